#include <martello/graph/verify.h>
#include <martello/graph/write_targets.h>

#include <martello/graph/core_ops.h>
#include <martello/graph/internal/field_visitor.h>
#include <martello/graph/internal/graph_text.h>
#include <martello/graph/node.h>

#include <unordered_set>

namespace martello {
namespace {

class Verifier {
 public:
  Verifier(const Graph& graph, int depth) : graph_(graph), impl_(graph.impl()), depth_(depth) {
    for (const auto& node : impl_.nodes) live_.insert(node.get());
  }

  void run() {
    check_names_and_ids();
    for (const auto& node : impl_.nodes) check_edges(*node);
    topological_order(impl_);
    for (const auto& node : impl_.nodes) {
      check_outputs(*node);
      check_writes(*node);
      check_bodies(*node);
    }
    check_collections();
  }

 private:
  template <class... T>
  void rule(bool keeps, const OpNode& node, const char* name, const T&... text) const {
    if (keeps) [[likely]]
      return;
    const std::string context = node.context();
    throw InvalidArgument(str("[verify '", node.name, "'] breaks the rule \"", name, "\": ", text...,
                              context.empty() ? "" : "\n  ", context));
  }

  void check_names_and_ids() const {
    int64_t previous = -1;
    for (const auto& node : impl_.nodes) {
      rule(node->def != nullptr, *node, "a node has an op", "it has none.");
      rule(node->graph == &impl_, *node, "a node knows its graph", "it points to another graph.");
      rule(!node->name.empty(), *node, "names are unique", "its name is empty.");
      const auto it = impl_.by_name.find(node->name);
      rule(it != impl_.by_name.end() && it->second == node.get(), *node, "names are unique", "its name finds ",
           it == impl_.by_name.end() ? "nothing." : "another node.");
      rule(node->id > previous && node->id < impl_.next_id, *node, "ids ascend", "id ", node->id, " follows ", previous,
           " and the next free one is ", impl_.next_id, ".");
      previous = node->id;
    }
    MARTELLO_CHECK(impl_.by_name.size() == impl_.nodes.size(),
                   "[verify] breaks the rule \"names are unique\": ", impl_.by_name.size(), " names for ",
                   impl_.nodes.size(), " nodes.");
  }

  bool is_live(const Tensor& t) const {
    return live_.contains(t.node()) && t.index() >= 0 && t.index() < static_cast<int>(t.node()->outputs.size());
  }

  void check_edges(const OpNode& node) const {
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      const Tensor& input = node.inputs[i];
      rule(live_.contains(input.node()), node, "inputs are live nodes of the graph", "input ", i,
           " is null, was dropped or belongs to another graph.");
      rule(is_live(input), node, "inputs are outputs that exist", "input ", i, " is output ", input.index(), " of '",
           input.node()->name, "', which has ", input.node()->outputs.size(), ".");
    }
    for (OpNode* control : node.controls)
      rule(live_.contains(control), node, "controls are live nodes of the graph",
           "one is null, was dropped or belongs to another graph.");
  }

  std::vector<TensorSpec> inferred(const OpNode& node) const {
    std::vector<TensorSpec> in;
    std::vector<const std::vector<int64_t>*> values;
    for (const Tensor& t : node.inputs) {
      const NodeOutput& output = output_of(t);
      in.push_back(output.spec());
      values.push_back(output.value ? &*output.value : nullptr);
    }
    try {
      return node.def->shape(ShapeContext{node.info(), in, &node.attrs, values});
    } catch (Error& error) {
      error.add_context(str("while verifying the outputs of '", node.name, "'"));
      throw;
    }
  }

  void check_outputs(const OpNode& node) const {
    const int named = node.def->inputs.size(), given = static_cast<int>(node.inputs.size());
    const bool count_fits = node.def->inputs.is_variadic() ? given >= named - 1 : given == named;
    rule(count_fits, node, "ops get the inputs they name", node.def->name, " takes ", named, " inputs, it has ", given,
         ".");
    rule(!node.def->attrs || node.attrs.type() == node.def->attrs, node, "attributes are of the op's type",
         "they are not those of ", node.def->name, ".");
    const std::vector<TensorSpec> specs = inferred(node);
    rule(specs.size() == node.outputs.size(), node, "outputs match the shape function", "it has ", node.outputs.size(),
         " outputs, its shape function gives ", specs.size(), ".");
    for (size_t i = 0; i < specs.size(); ++i) {
      const TensorSpec actual = node.outputs[i].spec();
      rule(agree(actual, specs[i]), node, "outputs match the shape function", "output ", i, " is ", actual,
           ", its shape function gives ", specs[i], ".");
    }
  }

  static bool agree(const TensorSpec& a, const TensorSpec& b) {
    if (a.dtype != b.dtype || a.shape.rank() != b.shape.rank()) return false;
    for (int i = 0; i < a.shape.rank(); ++i) {
      if (a.shape[i] != b.shape[i] && a.shape[i] != kUnknown && b.shape[i] != kUnknown) return false;
    }
    return true;
  }

  void check_variable(const OpNode& node, int input, const char* name) const {
    const bool exists = input >= 0 && input < static_cast<int>(node.inputs.size());
    rule(exists, node, name, "there is no input ", input, ".");
    const OpNode& target = *node.inputs[static_cast<size_t>(input)].node();
    rule(target.def->effect == Effect::variable, node, name, "input ", input, ", '", target.name, "', is a ",
         target.def->name, ".");
  }

  void check_writes(const OpNode& node) const {
    // In a body the counter is captured and comes from outside; in an initializer nothing counts.
    const int counter = node.def->counter_input;
    const bool exists = counter >= 0 && counter < static_cast<int>(node.inputs.size());
    const bool is_captured = exists && node.inputs[static_cast<size_t>(counter)].node()->def->effect == Effect::feed;
    if (exists && depth_ == 0 && !impl_.is_initializer && !is_captured)
      check_variable(node, node.def->counter_input, "random counters are variables");
    if (node.def->effect != Effect::write) return;
    rule(depth_ == 0, node, "bodies write no variables", node.def->name, " stands in a body.");
    rule(node.def->targets != nullptr, node, "write ops name their targets", node.def->name,
         " has no function that does.");
    for (int target : write_targets(node)) check_variable(node, target, "write targets are variables");
  }

  void check_bodies(const OpNode& node) const {
    internal::for_each_field<Subgraph>(node.attrs, [&](const char* field, const Subgraph& body) {
      if (body.is_null()) return;
      rule(depth_ < internal::kMaxBodyDepth, node, "bodies nest to a limit", "more than ", internal::kMaxBodyDepth,
           " within each other.");
      try {
        Verifier(body.graph(), depth_ + 1).check_body(body);
      } catch (Error& error) {
        error.add_context(str("in the body '", field, "' of '", node.name, "' (", node.def->name, ")"));
        throw;
      }
    });
  }

  void check_body(const Subgraph& body) {
    run();
    std::unordered_set<const OpNode*> bound;
    for (const Tensor& input : body.inputs()) {
      MARTELLO_CHECK(is_live(input), "[verify] breaks the rule \"a body's inputs are its own\": one is not.");
      rule(input.node()->def == &op_arg, *input.node(), "a body's inputs are args", "this input is a ",
           input.node()->def->name, ".");
      rule(bound.insert(input.node()).second, *input.node(), "a body's inputs are args", "it is listed twice.");
    }
    for (const auto& node : impl_.nodes) {
      const bool is_bound = node->def != &op_arg || bound.contains(node.get());
      rule(is_bound, *node, "args of a body are inputs of it", "nothing gives this one a value.");
    }
    for (const Tensor& output : body.outputs())
      MARTELLO_CHECK(is_live(output), "[verify] breaks the rule \"a body's outputs are its own\": one is not.");
  }

  template <class T, class F>
  void check_collection(const std::string& key, F&& is_kept) const {
    for (const T& item : graph_.collections().get(CollectionKey<T>{key.c_str()}))
      MARTELLO_CHECK(item.is_null() || is_kept(item), "[verify] collection '", key,
                     "' breaks the rule \"collections hold live nodes\": one was dropped or belongs to another graph.");
  }

  void check_collections() const {
    for (const std::string& key : graph_.collections().keys()) {
      check_collection<Tensor>(key, [&](const Tensor& t) { return is_live(t); });
      check_collection<Operation>(key, [&](const Operation& op) { return live_.contains(op.node()); });
      check_collection<Variable>(key, [&](const Variable& v) { return is_live(v) && is_live(v.handle()); });
    }
  }

  Graph graph_;
  Graph::Impl& impl_;
  int depth_;
  std::unordered_set<const OpNode*> live_;
};

}  // namespace

void verify(const Graph& graph) { Verifier(graph, 0).run(); }

}  // namespace martello
