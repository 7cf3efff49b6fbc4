#include <martello/graph/op_def.h>

#include <martello/base/error.h>
#include <martello/graph/build_context.h>
#include <martello/graph/core_ops.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <mutex>

namespace martello {

int NameList::size() const {
  int n = 0;
  while (n < 8 && names[n]) ++n;
  return n;
}
bool NameList::is_variadic() const {
  const int n = size();
  return n > 0 && std::string_view(names[n - 1]).ends_with("...");
}

namespace {
std::string input_name(const ShapeContext& c, size_t i) {
  const OpDef* def = find_op(c.op.type);
  const size_t named = def ? static_cast<size_t>(def->inputs.size() - (def->inputs.is_variadic() ? 1 : 0)) : 0;
  if (i < named) return def->inputs.names[i];
  return str("input ", i);
}
}  // namespace

void ShapeContext::check_rank(size_t i, int rank) const {
  MARTELLO_CHECK(in[i].shape.rank() == rank, where(), input_name(*this, i), " needs rank ", rank, " but is ",
                 in[i].str(), ".");
}
void ShapeContext::check_floating(size_t i) const {
  MARTELLO_CHECK(in[i].dtype == f32 || in[i].dtype == f64, where(), input_name(*this, i), " needs f32 or f64 but is ",
                 in[i].str(), ". Use cast().");
}
void ShapeContext::check_dtype(size_t i, DType dtype) const {
  MARTELLO_CHECK(in[i].dtype == dtype, where(), input_name(*this, i), " needs ", dtype, " but is ", in[i].str(),
                 ". Use cast().");
}
void ShapeContext::check_same_dtype(size_t i, size_t j) const {
  MARTELLO_CHECK(in[i].dtype == in[j].dtype, where(), input_name(*this, i), " is ", in[i].str(), " but ",
                 input_name(*this, j), " is ", in[j].str(), ". Use cast().");
}
int ShapeContext::check_axis(size_t i, int axis) const {
  const int normalized = normalized_axis(axis, in[i].shape.rank());
  MARTELLO_CHECK(normalized >= 0, where(), "axis ", axis, " is out of range for ", input_name(*this, i), " ",
                 in[i].str(), ".");
  return normalized;
}

TensorList not_differentiable(const GradContext& c) {
  throw InvalidArgument(str("[gradients] '", c.op.name, "' (", c.op.type, ") is not differentiable."));
}
TensorList no_gradient(const GradContext& c) { return std::vector<Tensor>(c.inputs.size()); }

namespace {

// A number takes the dtype of the first numeric tensor beside it.
DType number_dtype(const std::vector<Operand>& in) {
  bool all_integral = true;
  for (const Operand& o : in) {
    if (!o.is_number()) {
      if (!o.tensor().is_null() && o.tensor().dtype() != boolean) return o.tensor().dtype();
    } else {
      all_integral = all_integral && o.is_integral();
    }
  }
  return all_integral ? i32 : f32;
}

bool fits(const Operand& number, DType dtype) {
  if (is_floating(dtype)) return true;
  if (dtype == boolean || number.number() != std::floor(number.number())) return false;
  const double v = number.number();
  if (dtype == u8) return v >= 0 && v <= 255;
  if (dtype == i32) return v >= -2147483648.0 && v <= 2147483647.0;
  return std::abs(v) <= 9007199254740992.0;
}

Tensor number_tensor(const OpDef& def, Name name, const Operand& o, DType dtype) {
  MARTELLO_CHECK(fits(o, dtype), "[", def.name, " '", name.text(), "'] the number ", o.number(), " is not a ", dtype,
                 ", the dtype of the tensor beside it. Use cast() on the tensor.");
  LineScope pin(LineScope::effective(o.line()), LineScope::Kind::pin);
  return constant(HostTensor::full(Shape(), dtype, o.number()), "const");
}

SourceLine user_line(const std::vector<Operand>& in, Name name) {
  return LineScope::effective(in.empty() ? name.line() : in[0].line());
}

void check_name(const OpDef& def, Name name) {
  const auto text = name.text();
  const bool is_bad = text.empty() || text.find_first_of(": \t\n\"%") != std::string_view::npos || text.back() == '/';
  MARTELLO_CHECK(!is_bad, "[", def.name, " ", quoted(text),
                 "] a node's name is not empty, has no blank, colon, quote or percent sign and does not end in '/'.");
}

std::vector<Tensor> inputs_of(const OpDef& def, const std::vector<Operand>& in, Name name, Graph::Impl& graph) {
  std::vector<Tensor> inputs;
  inputs.reserve(in.size());
  for (const Operand& o : in) {
    MARTELLO_CHECK(o.is_number() || !o.tensor().is_null(), "[", def.name, " '", name.text(), "'] input ", inputs.size(),
                   " is a null Tensor: it was never assigned.");
    Tensor t = o.is_number() ? number_tensor(def, name, o, number_dtype(in)) : o.tensor();
    inputs.push_back(t.node()->graph == &graph ? t : graph.capture(t, str(def.name, " '", name.text(), "'")));
  }
  return inputs;
}

// A run advances the counter of a random op: it is a variable, or comes from outside; an initializer counts nothing.
void check_counter(const OpDef& def, const std::vector<Tensor>& inputs, Name name, const Graph::Impl& graph) {
  if (def.counter_input < 0 || static_cast<size_t>(def.counter_input) >= inputs.size()) return;
  if (graph.is_inside_initializer()) return;
  const OpNode& counter = *inputs[static_cast<size_t>(def.counter_input)].node();
  MARTELLO_CHECK(counter.def->effect == Effect::variable || counter.def->effect == Effect::feed, "[", def.name, " '",
                 name.text(), "'] its counter '", counter.name, "' is a ", counter.def->name,
                 ", not a variable. Use the function ", def.name, "().");
}

}  // namespace

Operation add_operation(const OpDef& def, const std::vector<Operand>& in, Attrs attrs, Name name) try {
  const SourceLine line = user_line(in, name);
  auto& context = internal::get_build_context(def.name, name.text());
  Graph::Impl& graph = *context.graph;
  check_name(def, name);
  graph.check_editable(str(def.name, " '", name.text(), "'"));
  auto inputs = inputs_of(def, in, name, graph);  // first: constants and captures take names too
  check_counter(def, inputs, name, graph);
  OpNode* node = graph.add(def, std::move(inputs), std::move(attrs),
                           graph.unique_name(context.name_scope + std::string(name.text())), line);
  node->device = context.device;
  node->recompute_scope = context.is_backward || graph.is_inside_initializer() ? 0 : context.recompute_scope;
  node->is_backward = context.is_backward;
  node->controls = context.controls;
  for (auto it = context.overrides.rbegin(); it != context.overrides.rend() && !node->gradient_override; ++it)
    if (it->op == def.name) node->gradient_override = it->entry;
  return Operation(node);
} catch (Error& e) {
  e.add_line(user_line(in, name));
  throw;
}

TensorList outputs_of(Operation op) {
  std::vector<Tensor> list;
  for (size_t i = 0; i < op.node()->outputs.size(); ++i) list.push_back(Tensor(op, static_cast<int>(i)));
  return list;
}

namespace {

struct Registry {
  std::mutex mutex;
  std::map<std::string_view, const OpDef*> ops;
};

Registry& registry() {
  static Registry* r = [] {
    auto* made = new Registry;
    for (const OpDef* def : {&op_constant, &op_placeholder, &op_arg, &op_group}) made->ops[def->name] = def;
    for (const OpDef* def : builtin_ops()) made->ops[def->name] = def;
    return made;
  }();
  return *r;
}

}  // namespace

void register_op(const OpDef& def) {
  MARTELLO_CHECK(def.name && *def.name, "[register_op] an op needs a name.");
  MARTELLO_CHECK(def.shape, "[register_op '", def.name, "'] an op needs a shape function.");
  Registry& r = registry();
  std::lock_guard lock(r.mutex);
  const auto [it, is_new] = r.ops.emplace(def.name, &def);
  MARTELLO_CHECK(is_new || it->second == &def, "[register_op '", def.name, "'] another op has this name.");
}

const OpDef* find_op(std::string_view name) {
  Registry& r = registry();
  std::lock_guard lock(r.mutex);
  const auto it = r.ops.find(name);
  return it == r.ops.end() ? nullptr : it->second;
}

std::vector<const OpDef*> all_ops() {
  Registry& r = registry();
  std::lock_guard lock(r.mutex);
  std::vector<const OpDef*> list;
  for (const auto& [name, def] : r.ops) list.push_back(def);
  return list;
}

}  // namespace martello
