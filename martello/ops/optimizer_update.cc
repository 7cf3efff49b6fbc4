#include <martello/ops/optimizer_update.h>

#include <martello/base/error.h>
#include <martello/graph/core_ops.h>
#include <martello/graph/node.h>
#include <martello/ops/variable.h>

#include <numeric>

namespace martello {

Kernel momentum_update_cpu(const KernelPlan&);
Kernel adam_update_cpu(const KernelPlan&);

namespace {

// Inputs: `first` scalars, then count gradients, count variables and count of each slot.
std::vector<int> input_range(int64_t begin, int64_t count) {
  std::vector<int> list(static_cast<size_t>(count));
  std::iota(list.begin(), list.end(), static_cast<int>(begin));
  return list;
}

std::vector<TensorSpec> check_update(const ShapeContext& c, int64_t first, int64_t count, int64_t slots) {
  const auto given = static_cast<int64_t>(c.in.size());
  MARTELLO_CHECK(count >= 0 && count <= given, c.where(), given, " inputs are too few for ", count, " variables.");
  MARTELLO_CHECK(given == first + count * (2 + slots), c.where(), "takes ", first + count * (2 + slots),
                 " inputs for ", count, " variables but was given ", given, ".");
  MARTELLO_CHECK(c.in[0].shape.rank() == 0 && (c.in[0].dtype == f32 || c.in[0].dtype == f64), c.where(),
                 "the learning rate needs to be a floating scalar but is ", c.in[0], ".");
  for (int64_t i = 0; i < count; ++i)
    for (int64_t j = 0; j < 2 + slots; ++j) {
      const TensorSpec& w = c.in[static_cast<size_t>(first + count + i)];
      const TensorSpec& other = c.in[static_cast<size_t>(first + j * count + i)];
      MARTELLO_CHECK(w.dtype == f32 || w.dtype == f64, c.where(), "variable ", i, " needs f32 or f64 but is ", w, ".");
      bool agrees = w.dtype == other.dtype && w.shape.rank() == other.shape.rank();
      for (int d = 0; agrees && d < w.shape.rank(); ++d)
        agrees = other.shape[d] == kUnknown || other.shape[d] == w.shape[d];
      MARTELLO_CHECK(agrees, c.where(), j == 0 ? "gradient " : "slot ", i, " is ", other, " but its variable is ", w,
                     ".");
    }
  return {};
}

template <class A>
constexpr int64_t kFirst = std::is_same_v<A, AdamUpdateAttrs> ? 2 : 1;
template <class A>
constexpr int64_t kSlots = std::is_same_v<A, AdamUpdateAttrs> ? 2 : 1;

template <class A>
std::vector<int> update_targets(const Attrs& attrs, int) {
  const int64_t n = attrs.get<A>().count;
  auto list = input_range(kFirst<A> + n, n * (1 + kSlots<A>));
  if (kFirst<A> == 2) list.push_back(1);  // the step
  return list;
}

template <class A>
std::vector<FlatGroup> update_groups(const Attrs& attrs, int) {
  const int64_t n = attrs.get<A>().count, first = kFirst<A>;
  std::vector<FlatGroup> groups = {{input_range(first + n, n), input_range(first, n)}};
  for (int64_t s = 0; s < kSlots<A>; ++s) groups.push_back({input_range(first + (2 + s) * n, n), {}});
  return groups;
}

Cost update_cost(std::span<const TensorSpec> in, std::span<const TensorSpec>, const Attrs&) {
  Cost cost;
  for (const TensorSpec& t : in) cost.bytes += static_cast<double>(t.shape.num_elements() * size_of(t.dtype));
  return cost;
}

// A number keeps all its digits; the step beside it says nothing about its dtype.
Operand as_rate(const Operand& learning_rate) {
  if (!learning_rate.is_number()) return learning_rate;
  LineScope line(learning_rate.line());
  return Operand(constant(HostTensor(learning_rate.number()), "learning_rate"), learning_rate.line());
}

std::vector<Operand> operands(const std::vector<Operand>& scalars, const UpdateGroup& group) {
  std::vector<Operand> in = scalars;
  const SourceLine line = scalars[0].line();
  for (const Tensor& g : group.gradients) in.emplace_back(g, line);
  for (const Variable& v : group.variables) in.emplace_back(v.handle(), line);
  for (const auto& slot : group.slots)
    for (const Variable& v : slot) in.emplace_back(v.handle(), line);
  return in;
}

void check_targets(const char* op, const UpdateGroup& group, Name name) {
  for (const Variable& v : group.variables)
    MARTELLO_CHECK(!v.handle().is_null() && v.handle().node()->def == &op_variable, "[", op, " '", name.text(),
                   "'] works on variables, and one of its targets is none.\n  at ", name.line().str());
}

}  // namespace

constinit const OpDef op_momentum_update = {
    .name = "momentum_update",
    .doc = "m = momentum m + g;  w -= learning_rate m (Nesterov: learning_rate (g + momentum m)), for all of a group",
    .inputs = {"learning_rate", "gradients_variables_slots..."},
    .attrs = &attrs_type<MomentumUpdateAttrs>,
    .shape =
        [](const ShapeContext& c) {
          return check_update(c, kFirst<MomentumUpdateAttrs>, c.attrs<MomentumUpdateAttrs>().count, 1);
        },
    .gradient = not_differentiable,
    .cpu = momentum_update_cpu,
    .effect = Effect::write,
    .targets = update_targets<MomentumUpdateAttrs>,
    .flat_groups = update_groups<MomentumUpdateAttrs>,
    .cost = update_cost,
    .family = "Optimizer updates",
};

constinit const OpDef op_adam_update = {
    .name = "adam_update",
    .doc =
        "t += 1;  m = beta1 m + (1 - beta1) g;  v = beta2 v + (1 - beta2) g^2;  "
        "w -= learning_rate sqrt(1 - beta2^t) / (1 - beta1^t) m / (sqrt(v) + epsilon), for all of a group",
    .inputs = {"learning_rate", "step", "gradients_variables_slots..."},
    .attrs = &attrs_type<AdamUpdateAttrs>,
    .shape =
        [](const ShapeContext& c) {
          MARTELLO_CHECK(c.in.size() > 1 && c.in[1].dtype == i64 && c.in[1].shape.rank() == 0, c.where(),
                         "the step needs to be an i64 scalar.");
          return check_update(c, kFirst<AdamUpdateAttrs>, c.attrs<AdamUpdateAttrs>().count, 2);
        },
    .gradient = not_differentiable,
    .cpu = adam_update_cpu,
    .effect = Effect::write,
    .targets = update_targets<AdamUpdateAttrs>,
    .flat_groups = update_groups<AdamUpdateAttrs>,
    .cost = update_cost,
    .family = "Optimizer updates",
};

Operation momentum_update(Operand learning_rate, const UpdateGroup& group, MomentumUpdateAttrs attrs, Name name) {
  check_targets("momentum_update", group, name);
  attrs.count = static_cast<int64_t>(group.variables.size());
  return add_operation(op_momentum_update, operands({as_rate(learning_rate)}, group), Attrs(attrs), name);
}

Operation adam_update(Operand learning_rate, Variable step, const UpdateGroup& group, AdamUpdateAttrs attrs,
                      Name name) {
  check_targets("adam_update", group, name);
  attrs.count = static_cast<int64_t>(group.variables.size());
  const Operand t(step.handle(), learning_rate.line());
  return add_operation(op_adam_update, operands({as_rate(learning_rate), t}, group), Attrs(attrs), name);
}

}  // namespace martello
