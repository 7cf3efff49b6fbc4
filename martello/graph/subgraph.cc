#include <martello/graph/subgraph.h>

#include <martello/base/error.h>
#include <martello/graph/build_context.h>
#include <martello/graph/core_ops.h>
#include <martello/graph/internal/graph_text.h>

namespace martello {

struct Subgraph::Body {
  Graph graph;
  TensorList inputs, outputs;
};

Subgraph::Subgraph(Graph graph, TensorList inputs, TensorList outputs)
    : body_(std::make_shared<const Body>(Body{std::move(graph), std::move(inputs), std::move(outputs)})) {
  for (const Tensor& t : body_->inputs)
    MARTELLO_CHECK(!t.is_null() && t.node()->graph == &body_->graph.impl(), "[subgraph] an input is not a node of it.");
  for (const Tensor& t : body_->outputs)
    MARTELLO_CHECK(!t.is_null() && t.node()->graph == &body_->graph.impl(),
                   "[subgraph] an output is not a node of it.");
}

const Graph& Subgraph::graph() const { return body_->graph; }
const TensorList& Subgraph::inputs() const { return body_->inputs; }
const TensorList& Subgraph::outputs() const { return body_->outputs; }

bool Subgraph::operator==(const Subgraph& other) const {
  if (body_ == other.body_) return true;
  if (!body_ || !other.body_) return false;
  const auto names = [](const TensorList& list) {
    std::string all;
    for (const Tensor& t : list) all += t.name() + ";";
    return all;
  };
  return names(inputs()) == names(other.inputs()) && names(outputs()) == names(other.outputs()) &&
         internal::graph_text(graph(), {.lines = false}) == internal::graph_text(other.graph(), {.lines = false});
}

HostFunction::HostFunction(std::string name, Fn fn)
    : name_(std::move(name)), fn_(std::make_shared<const Fn>(std::move(fn))) {}

namespace {

// The scopes of the outer graph that also hold inside a body.
internal::BuildContext body_context(const internal::BuildContext& outer, const Graph& body) {
  internal::BuildContext inner = outer;
  inner.graph = body.impl().shared_from_this();
  inner.name_scope.clear();
  inner.controls.clear();
  return inner;
}

struct ContextGuard {
  explicit ContextGuard(internal::BuildContext c) : context(internal::push_build_context(std::move(c))) {}
  ~ContextGuard() { internal::pop_build_context(context); }
  ContextGuard(const ContextGuard&) = delete;
  ContextGuard& operator=(const ContextGuard&) = delete;
  internal::BuildContext* context;
};

}  // namespace

BuiltSubgraph build_subgraph(const std::vector<TensorSpec>& args, const std::function<TensorList(TensorList)>& build) {
  const auto& outer = internal::get_build_context();
  Graph body;
  body.impl().parent = outer.graph.get();
  body.impl().seed = outer.graph->seed;
  body.impl().next_symbol = outer.graph->next_symbol;  // symbols of captured shapes mean the same inside
  ContextGuard guard(body_context(outer, body));
  std::vector<Tensor> inputs;
  for (const TensorSpec& spec : args) {
    OpNode* arg = body.impl().add(op_arg, {}, Attrs(PlaceholderAttrs{spec.shape.without_symbols(), spec.dtype}),
                                  body.impl().unique_name(spec.name.empty() ? "arg" : spec.name), spec.line);
    arg->outputs[0].shape = spec.shape;
    inputs.push_back(arg->output(0));
  }
  TensorList outputs;
  for (Tensor t : build(inputs)) {
    MARTELLO_CHECK(!t.is_null(), "[subgraph] the body returned a null Tensor.");
    outputs.push_back(t.node()->graph == &body.impl() ? t : body.impl().capture(t));
  }
  Graph::Impl& impl = body.impl();
  inputs.insert(inputs.end(), impl.capture_inputs.begin(), impl.capture_inputs.end());
  BuiltSubgraph built{Subgraph(body, inputs, outputs), impl.captured};
  impl.finalized = true;
  return built;
}

}  // namespace martello
