#include <martello/graph/node.h>

#include <martello/base/checked.h>
#include <martello/base/error.h>
#include <martello/graph/core_ops.h>

#include <algorithm>

namespace martello {
namespace {

constexpr size_t kMostKnownElements = 64;

std::string unique_among(std::string_view name, const auto& taken, std::unordered_map<std::string, int>& suffixes) {
  std::string candidate(name);
  if (!taken(candidate)) return candidate;
  int& next = suffixes[candidate];
  do {
    candidate = str(name, "_", ++next);
  } while (taken(candidate));
  return candidate;
}

void check_input_count(const OpNode& node) {
  const int expected = node.def->inputs.size(), actual = static_cast<int>(node.inputs.size());
  const bool is_ok = node.def->inputs.is_variadic() ? actual >= expected - 1 : actual == expected;
  MARTELLO_CHECK(is_ok, node.where(), "takes ", expected, " inputs but was given ", actual, ".");
}

// What a shape function sees of a node's inputs.
struct InputFacts {
  std::vector<TensorSpec> specs;
  std::vector<const std::vector<int64_t>*> values;

  explicit InputFacts(const OpNode& node) {
    for (const Tensor& t : node.inputs) {
      const NodeOutput& in = output_of(t);
      specs.push_back(in.spec());
      values.push_back(in.value ? &*in.value : nullptr);
    }
  }
  ShapeContext context(const OpNode& node) const { return {node.info(), specs, &node.attrs, values}; }
};

// Whether output rows depend on data; refuses ops that cannot take such inputs.
bool outputs_are_dynamic(const OpNode& node) {
  if (node.def->rows == Rows::made) return true;
  bool is_dynamic = false;
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    const Tensor& t = node.inputs[i];
    const NodeOutput& in = output_of(t);
    if (!in.has_dynamic_rows) continue;
    const Rows rows = rows_of(node, i);
    MARTELLO_CHECK(rows != Rows::refused, node.where(), "input '", t.name(), "' ", in.spec(),
                   " has a number of rows that depends on data; this op needs sizes known before the run.");
    is_dynamic = is_dynamic || rows == Rows::same;
  }
  return is_dynamic;
}

}  // namespace

Rows rows_of(const OpNode& node, size_t input) {
  if (!node.def->rows_of) return node.def->rows;
  const InputFacts facts(node);
  return node.def->rows_of(facts.context(node), input);
}

namespace {
// Refuses a product of dimensions that does not fit.
void check_size(const OpNode& node, const NodeOutput& out) try {
  checked_mul(out.shape.num_elements(), size_of(out.dtype));
} catch (const Error& e) {
  throw InvalidArgument(str(node.where(), "its result ", out.spec(), " is too large: ", e.what()));
}

std::string inputs_text(const OpNode& node) {
  std::vector<std::string> texts;
  for (const Tensor& t : node.inputs) texts.push_back(str(t.dtype(), t.shape()));
  return texts.empty() ? "no inputs" : str(texts.size() == 1 ? "input " : "inputs ", join(texts));
}
}  // namespace

std::string OpNode::context() const { return line.known() ? str("at ", line.str()) : std::string(); }

std::string Graph::Impl::unique_name(std::string_view name) {
  return unique_among(
      name, [&](const std::string& n) { return by_name.contains(n); }, next_suffix);
}

std::string Graph::Impl::unique_scope(const std::string& name) {
  const std::string unique = unique_among(
      name, [&](const std::string& n) { return scopes.contains(n); }, scopes);
  scopes.emplace(unique, 0);
  return unique;
}

void Graph::Impl::check_editable(std::string_view what) const {
  if (finalized)
    throw FailedPrecondition(
        str("[", what, "] comes after finalize(): the graph cannot change any more. Build it before."));
}

OpNode* Graph::Impl::add(const OpDef& def, std::vector<Tensor> inputs, Attrs attrs, std::string unique_name,
                         SourceLine line) {
  check_editable(str(def.name, " '", unique_name, "'"));
  auto node = std::make_unique<OpNode>();
  node->def = &def;
  node->name = std::move(unique_name);
  node->id = next_id++;
  node->inputs = std::move(inputs);
  node->attrs = std::move(attrs);
  node->line = line;
  node->graph = this;
  infer(*node);
  by_name.emplace(node->name, node.get());
  nodes.push_back(std::move(node));
  return nodes.back().get();
}

void Graph::Impl::infer(OpNode& node) try {
  MARTELLO_CHECK(!node.def->attrs || node.attrs.type() == node.def->attrs, node.where(),
                 "attributes are of another type than those of ", node.def->name,
                 ". Pass the struct that it declares.");
  check_input_count(node);
  const InputFacts facts(node);
  const ShapeContext context = facts.context(node);
  const auto outs = node.def->shape(context);
  const bool is_dynamic = outputs_are_dynamic(node);
  const bool has_dynamic_input = std::any_of(node.inputs.begin(), node.inputs.end(), has_dynamic_rows);
  node.outputs.clear();
  for (const TensorSpec& spec : outs) {
    NodeOutput out{spec.shape, spec.dtype, std::nullopt, is_dynamic && spec.shape.rank() > 0};
    if (node.def->has_rows_by_position) out.has_dynamic_rows = has_dynamic_rows(node.inputs[node.outputs.size()]);
    for (int i = 0; i < spec.shape.rank(); ++i)
      if (spec.shape.symbolic()[static_cast<size_t>(i)] == kUnknown) out.shape = out.shape.with(i, next_symbol--);
    if (out.shape.is_known()) check_size(node, out);
    node.outputs.push_back(std::move(out));
  }
  if (node.def->value && !node.outputs.empty() && is_integer(node.outputs[0].dtype) && !has_dynamic_input) {
    NodeOutput& out = node.outputs[0];
    if (out.shape.is_known() && out.shape.num_elements() <= static_cast<int64_t>(kMostKnownElements))
      out.value = node.def->value(context);
  }
} catch (const SizeOverflow& e) {
  InvalidArgument error(str(node.where(), "a size of it is too large, with ", inputs_text(node), ": ", e.what()));
  error.add_line(node.line);
  throw error;
} catch (Error& e) {
  e.add_line(node.line);
  throw;
}

Tensor Graph::Impl::find_stand_in(Tensor of) const {
  for (auto it = inlined.rbegin(); it != inlined.rend(); ++it)
    if (const auto found = it->stand_ins.find(of.node()); found != it->stand_ins.end())
      return found->second[static_cast<size_t>(of.index())];
  return Tensor();
}

Tensor Graph::Impl::capture(Tensor outer, std::string_view by) {
  for (const Graph::Impl* g = this; g; g = g->parent)
    if (const Tensor own = g->find_stand_in(outer); !own.is_null()) return g == this ? own : capture(own, by);
  for (const Graph::Impl* above = parent; above; above = above->parent) {
    if (above != outer.node()->graph) continue;
    // A tensor two levels up is captured by the level between first.
    const Tensor direct = above == parent ? outer : parent->capture(outer, by);
    for (size_t i = 0; i < captured.size(); ++i)
      if (captured[i] == direct) return capture_inputs[i];
    const NodeOutput& spec = output_of(direct);
    std::string base = direct.name();
    std::replace(base.begin(), base.end(), ':', '_');
    OpNode* arg = add(op_arg, {}, Attrs(PlaceholderAttrs{spec.shape.without_symbols(), spec.dtype}), unique_name(base),
                      direct.node()->line);
    arg->outputs[0].shape = spec.shape;  // keeps symbols
    arg->outputs[0].value = spec.value;
    captured.push_back(direct);
    capture_inputs.push_back(arg->output(0));
    return capture_inputs.back();
  }
  throw InvalidArgument(str("[", by, "] tensor '", outer.name(),
                            "' belongs to another graph than the current one. Build it inside this GraphScope, or feed "
                            "its value."));
}

void Graph::Impl::erase_unmarked(const std::vector<bool>& keep) {
  const auto is_dead = [&](const std::unique_ptr<OpNode>& n) {
    if (keep[static_cast<size_t>(n->id)]) return false;
    by_name.erase(n->name);
    return true;
  };
  nodes.erase(std::remove_if(nodes.begin(), nodes.end(), is_dead), nodes.end());
}

namespace {

enum class Mark : uint8_t { none, open, done };

// Depth-first without recursion: graphs may be ten thousand nodes deep.
class Walk {
 public:
  explicit Walk(const Graph::Impl& graph) : marks_(static_cast<size_t>(graph.next_id), Mark::none) {}

  void visit(OpNode* root) {
    push(root);
    while (!stack_.empty()) {
      auto& [node, next] = stack_.back();
      if (OpNode* dependency = dependency_of(*node, next++)) {
        push(dependency);
      } else if (next > node->inputs.size() + node->controls.size()) {
        marks_[static_cast<size_t>(node->id)] = Mark::done;
        order.push_back(node);
        stack_.pop_back();
      }
    }
  }

  std::vector<OpNode*> order;

 private:
  static OpNode* dependency_of(const OpNode& node, size_t i) {
    if (i < node.inputs.size()) return node.inputs[i].node();
    i -= node.inputs.size();
    return i < node.controls.size() ? node.controls[i] : nullptr;
  }

  void push(OpNode* node) {
    Mark& mark = marks_[static_cast<size_t>(node->id)];
    if (mark == Mark::open) refuse_cycle(node);
    if (mark == Mark::none) {
      mark = Mark::open;
      stack_.emplace_back(node, 0);
    }
  }

  [[noreturn]] void refuse_cycle(OpNode* node) const {
    auto it = stack_.begin();
    while (it->first != node) ++it;
    std::vector<std::string> names;
    for (; it != stack_.end() && names.size() < 8; ++it) names.push_back(str("'", it->first->name, "'"));
    InvalidArgument error(str(node->where(), "lies on a cycle: each of ", join(names),
                              " must run after the next. Remove a control dependency."));
    error.add_line(node->line);
    throw error;
  }

  std::vector<Mark> marks_;
  std::vector<std::pair<OpNode*, size_t>> stack_;
};

}  // namespace

std::vector<OpNode*> topological_order(const Graph::Impl& graph) {
  Walk walk(graph);
  for (const auto& node : graph.nodes) walk.visit(node.get());
  return std::move(walk.order);
}

std::vector<OpNode*> reachable_from(const Graph::Impl& graph, const std::vector<OpNode*>& roots) {
  Walk walk(graph);
  for (OpNode* root : roots) walk.visit(root);
  return std::move(walk.order);
}

}  // namespace martello
