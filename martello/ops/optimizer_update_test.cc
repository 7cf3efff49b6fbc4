#include <martello/graph/core_ops.h>
#include <martello/ops/assign.h>
#include <martello/ops/compare.h>
#include <martello/ops/initializers.h>
#include <martello/ops/matmul.h>
#include <martello/ops/optimizer_update.h>
#include <martello/testing/op_test.h>

#include <gtest/gtest.h>

#include <cmath>

namespace martello {
namespace {

using namespace testing;

constexpr double kRate = 0.1, kSlot = 0.5;
constexpr int64_t kStepsBefore = 2;

Variable make(const std::string& name, Shape shape, DType dtype, double value) {
  return get_variable(
      name, {.shape = std::move(shape), .dtype = dtype, .initializer = constant_init(value), .trainable = false});
}

// Variables are 1, slots 0.5, and two steps are done.
UpdateGroup group_of(const TensorList& grads, UpdateRule rule) {
  const UpdateTraits traits = traits_of(rule);
  UpdateGroup group;
  group.slots.resize(static_cast<size_t>(traits.slots));
  for (size_t i = 0; i < grads.size(); ++i) {
    if (traits.takes_gradient) group.gradients.push_back(grads[i]);
    group.variables.push_back(make(str("w", i), grads[i].shape(), grads[i].dtype(), 1));
    for (size_t s = 0; s < group.slots.size(); ++s)
      group.slots[s].push_back(make(str("s", s, "_", i), grads[i].shape(), grads[i].dtype(), kSlot));
  }
  if (traits.counts_steps) group.step = make("step", {}, i64, static_cast<double>(kStepsBefore));
  return group;
}

TensorList values_of(const UpdateGroup& group) {
  TensorList values;
  for (const Variable& v : group.variables) values.push_back(read_variable(v));
  for (const auto& slot : group.slots)
    for (const Variable& v : slot) values.push_back(read_variable(v));
  return values;
}

Build after_update(OptimizerUpdateAttrs a) {
  return [a](TensorList grads) {
    const UpdateGroup group = group_of(grads, a.rule);
    ControlDependencies done({optimizer_update(kRate, group, a)});
    return values_of(group);
  };
}

// w and the slots of one element after one update, in the plainest words.
using Element = std::vector<double>;
using Formula = std::function<Element(double g)>;

HostTensors map_all(const HostTensors& grads, const Formula& f) {
  HostTensors all;
  for (size_t part = 0; part < f(0).size(); ++part)
    for (const HostTensor& g : grads)
      all.push_back(map_elements(
          {g}, [&](const std::vector<double>& x) { return f(x[0])[part]; }, g.dtype()));
  return all;
}

OpCase row(std::string label, HostTensors grads, OptimizerUpdateAttrs a, Formula f) {
  return {.label = std::move(label),
          .inputs = std::move(grads),
          .build = after_update(a),
          .reference = [f](const HostTensors& in) { return map_all(in, f); },
          .gradient = false,
          .unknown_shapes = false};
}

HostTensors several() { return {randn({3, 5}), randn({}), randn({0}), randn({17000}), randn({1, 2, 1, 2, 1, 3})}; }

const OptimizerUpdateAttrs kDescent{.rule = UpdateRule::gradient_descent};
const OptimizerUpdateAttrs kMomentum{.rule = UpdateRule::momentum, .momentum = 0.9};
const OptimizerUpdateAttrs kNesterov{.rule = UpdateRule::nesterov, .momentum = 0.9};
const OptimizerUpdateAttrs kAdam{.rule = UpdateRule::adam, .beta1 = 0.8, .beta2 = 0.9, .epsilon = 1e-2};
const OptimizerUpdateAttrs kRms{.rule = UpdateRule::rms_prop, .momentum = 0.7, .beta2 = 0.9, .epsilon = 1e-2};
const OptimizerUpdateAttrs kAdagrad{.rule = UpdateRule::adagrad, .epsilon = 1e-2};
const OptimizerUpdateAttrs kAdadelta{.rule = UpdateRule::adadelta, .beta2 = 0.9, .epsilon = 1e-2};
const OptimizerUpdateAttrs kLion{.rule = UpdateRule::lion, .beta1 = 0.8, .beta2 = 0.9};

Element descent(double g) { return {1 - kRate * g}; }
Element momentum(double g) { return {1 - kRate * (0.9 * kSlot + g), 0.9 * kSlot + g}; }
Element nesterov(double g) {
  const double m = 0.9 * kSlot + g;
  return {1 - kRate * (g + 0.9 * m), m};
}
Element adam(double g) {
  const double m = 0.8 * kSlot + 0.2 * g, v = 0.9 * kSlot + 0.1 * g * g, t = kStepsBefore + 1;
  const double correction = std::sqrt(1 - std::pow(0.9, t)) / (1 - std::pow(0.8, t));
  return {1 - kRate * correction * m / (std::sqrt(v) + 1e-2), m, v};
}
Element adam_with_decay(double g) {
  const double m = 0.8 * kSlot + 0.2 * g, v = 0.9 * kSlot + 0.1 * g * g, t = kStepsBefore + 1;
  const double m_hat = m / (1 - std::pow(0.8, t)), v_hat = v / (1 - std::pow(0.9, t));
  return {1 - kRate * 0.3 * 1 - kRate * m_hat / (std::sqrt(v_hat) + 1e-2), m, v};
}
Element rms_prop(double g) {
  const double v = 0.9 * kSlot + 0.1 * g * g, m = 0.7 * kSlot + kRate * g / std::sqrt(v + 1e-2);
  return {1 - m, v, m};
}
Element centered_rms_prop(double g) {
  const double v = 0.9 * kSlot + 0.1 * g * g, mean = 0.9 * kSlot + 0.1 * g;
  const double m = 0.7 * kSlot + kRate * g / std::sqrt(v - mean * mean + 1e-2);
  return {1 - m, v, mean, m};
}
Element adagrad(double g) {
  const double a = kSlot + g * g;
  return {1 - kRate * g / (std::sqrt(a) + 1e-2), a};
}
Element adadelta(double g) {
  const double a = 0.9 * kSlot + 0.1 * g * g, u = std::sqrt(kSlot + 1e-2) / std::sqrt(a + 1e-2) * g;
  return {1 - kRate * u, a, 0.9 * kSlot + 0.1 * u * u};
}
Element lion(double g) {
  const double c = 0.8 * kSlot + 0.2 * g;
  return {1 - kRate * (c > 0 ? 1 : c < 0 ? -1 : 0), 0.9 * kSlot + 0.1 * g};
}

OptimizerUpdateAttrs with(OptimizerUpdateAttrs a, UpdateRule rule) {
  a.rule = rule;
  return a;
}

OptimizerUpdateAttrs decayed_adam(int64_t variables) {
  OptimizerUpdateAttrs a = kAdam;
  a.has_corrected_epsilon = true;
  a.weight_decay.assign(static_cast<size_t>(variables), 0.3);
  return a;
}

// Norms are over whole variables, so this one cannot go element by element.
HostTensors naive_lamb(const HostTensors& grads) {
  HostTensors w, m, v;
  const double t = kStepsBefore + 1, decay = 0.3;
  for (const HostTensor& g : grads) {
    HostTensor wi(g.shape(), g.dtype()), mi = wi.cast(g.dtype()), vi = wi.cast(g.dtype()), r = wi.cast(g.dtype());
    double norm_w = 0, norm_r = 0;
    for (int64_t i = 0; i < g.num_elements(); ++i) {
      mi.set(i, 0.8 * kSlot + 0.2 * g.at(i));
      vi.set(i, 0.9 * kSlot + 0.1 * g.at(i) * g.at(i));
      const double m_hat = mi.at(i) / (1 - std::pow(0.8, t)), v_hat = vi.at(i) / (1 - std::pow(0.9, t));
      r.set(i, m_hat / (std::sqrt(v_hat) + 1e-2) + decay);
      norm_w += 1;
      norm_r += r.at(i) * r.at(i);
    }
    for (int64_t i = 0; i < g.num_elements(); ++i) wi.set(i, 1 - kRate * std::sqrt(norm_w / norm_r) * r.at(i));
    w.push_back(wi), m.push_back(mi), v.push_back(vi);
  }
  w.insert(w.end(), m.begin(), m.end());
  w.insert(w.end(), v.begin(), v.end());
  return w;
}

OpCase lamb_case(std::string label, HostTensors grads) {
  OptimizerUpdateAttrs a = with(kAdam, UpdateRule::lamb);
  a.weight_decay.assign(grads.size(), 0.3);
  return {.label = std::move(label),
          .inputs = std::move(grads),
          .build = after_update(a),
          .reference = naive_lamb,
          .gradient = false,
          .unknown_shapes = false};
}

OP_TEST(optimizer_update, row("descent", several(), kDescent, descent), row("momentum", several(), kMomentum, momentum),
        row("nesterov", several(), kNesterov, nesterov), row("adam", several(), kAdam, adam),
        row("adam with decay", several(), decayed_adam(5), adam_with_decay), row("rms_prop", several(), kRms, rms_prop),
        row("centered_rms_prop", several(), with(kRms, UpdateRule::centered_rms_prop), centered_rms_prop),
        row("adagrad", several(), kAdagrad, adagrad), row("adadelta", several(), kAdadelta, adadelta),
        row("lion", several(), kLion, lion), lamb_case("lamb", several()),
        row("accumulate", several(), {.rule = UpdateRule::accumulate}, [](double g) { return Element{kRate * g}; }),
        row("average", several(), {.rule = UpdateRule::average},
            [](double) {
              return Element{1 - kRate * (1 - kSlot), kSlot};
            }),
        row("swap", several(), {.rule = UpdateRule::swap},
            [](double) {
              return Element{kSlot, 1};
            }),
        row("one large", {randn({40000})}, kAdam, adam));

TEST(OptimizerUpdate, a_closed_gate_writes_nothing_and_counts_no_step) {
  for (bool is_open : {false, true}) {
    OpCase c = row("gate", {randn({5})}, kAdam, [&](double g) { return is_open ? adam(g) : Element{1, kSlot, kSlot}; });
    c.build = [=](TensorList grads) {
      UpdateGroup group = group_of(grads, kAdam.rule);
      group.gate = constant(HostTensor(is_open));
      ControlDependencies done({optimizer_update(kRate, group, kAdam)});
      TensorList values = values_of(group);
      values.push_back(read_variable(group.step));
      return values;
    };
    c.reference = [=](const HostTensors& in) {
      HostTensors all = map_all(in, [&](double g) { return is_open ? adam(g) : Element{1, kSlot, kSlot}; });
      all.push_back(HostTensor(int64_t{kStepsBefore + (is_open ? 1 : 0)}));
      return all;
    };
    run_op_case("optimizer_update", c);
  }
}

// The first gradient is a^T b, the second is given.
TensorList after_update_by_factors(TensorList in, OptimizerUpdateAttrs attrs) {
  attrs.count = 2;
  attrs.products = {0};
  const UpdateGroup group = group_of({matmul(in[0], in[1], {.transpose_a = true}), in[2]}, attrs.rule);
  std::vector<Operand> inputs{constant(HostTensor(kRate))};
  if (!group.step.handle().is_null()) inputs.emplace_back(group.step.handle());
  for (const Tensor& t : in) inputs.emplace_back(t);
  for (const Variable& v : group.variables) inputs.emplace_back(v.handle());
  for (const auto& slot : group.slots)
    for (const Variable& v : slot) inputs.emplace_back(v.handle());
  const ControlDependencies done({add_operation(op_optimizer_update, inputs, Attrs(attrs), "update")});
  return values_of(group);
}

HostTensor naive_product(const HostTensor& a, const HostTensor& b) {
  const int64_t k = a.shape()[0], m = a.shape()[1], n = b.shape()[1];
  HostTensor y({m, n}, f64);
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j) {
      double sum = 0;
      for (int64_t p = 0; p < k; ++p) sum += a.at(p * m + i) * b.at(p * n + j);
      y.set(i * n + j, sum);
    }
  return y;
}

TEST(OptimizerUpdate, takes_a_gradient_as_its_factors) {
  struct Rule {
    OptimizerUpdateAttrs attrs;
    Formula formula;
  };
  const Rule rules[] = {{kDescent, descent},
                        {kMomentum, momentum},
                        {kAdam, adam},
                        {kRms, rms_prop},
                        {with(kRms, UpdateRule::centered_rms_prop), centered_rms_prop}};
  const int64_t sizes[][3] = {{70, 50, 130}, {1, 1, 1}, {9, 100, 64}, {1024, 7, 3}, {5, 0, 6}};
  for (const auto& [attrs, formula] : rules)
    for (const auto& [k, m, n] : sizes)
      run_op_case("optimizer_update", {.label = str(k, "x", m, "x", n),
                                       .inputs = {uniform({k, m}, -1, 1, 1), uniform({k, n}, -1, 1, 2), randn({9})},
                                       .build = [a = attrs](TensorList in) { return after_update_by_factors(in, a); },
                                       .reference =
                                           [f = formula](const HostTensors& in) {
                                             return map_all({naive_product(in[0], in[1]), in[2]}, f);
                                           },
                                       .dtypes = {f32},
                                       .gradient = false,
                                       .unknown_shapes = false,
                                       .tolerance = 1e-4});
}

// An average of a gradient that stays 0 would end among numbers that are slow to compute with.
TEST(OptimizerUpdate, a_slot_that_decays_ends_at_zero) {
  OpCase c = row("decay", {HostTensor({40}, f32)}, kMomentum, [](double) { return Element{1, 0}; });
  c.build = [](TensorList grads) {
    UpdateGroup group = group_of(grads, kMomentum.rule);
    const DType dtype = grads[0].dtype();
    const HostTensor least = HostTensor::full({40}, dtype, dtype == f64 ? 2.3e-308 : 1.2e-38);
    const Operation tiny = assign(group.slots[0][0], constant(least));
    Operation done;
    {
      const ControlDependencies after({tiny});
      done = optimizer_update(kRate, group, kMomentum);
    }
    const ControlDependencies after({done});
    return TensorList{equal(read_variable(group.slots[0][0]), 0)};
  };
  c.reference = [](const HostTensors&) { return HostTensors{HostTensor::full({40}, boolean, 1)}; };
  run_op_case("optimizer_update", c);
}

OP_REFUSES(optimizer_update, a_gradient_of_another_shape,
           [] {
             UpdateGroup g = group_of({placeholder({3}, f32, "g")}, UpdateRule::momentum);
             g.gradients[0] = placeholder({4}, f32, "h");
             optimizer_update(0.1, g, kMomentum);
           },
           {"optimizer_update", "[3]", "[4]"})
OP_REFUSES(optimizer_update, a_rate_that_is_no_scalar,
           [] {
             optimizer_update(placeholder({2}, f32, "rate"), group_of({placeholder({3}, f32, "g")}, kMomentum.rule),
                              kMomentum);
           },
           {"momentum", "[2]", "scalar"})
OP_REFUSES(optimizer_update, a_missing_slot,
           [] { optimizer_update(0.1, group_of({placeholder({3}, f32, "g")}, UpdateRule::momentum), kRms); },
           {"rms_prop", "inputs"})
OP_REFUSES(optimizer_update, another_number_of_decays,
           [] { optimizer_update(0.1, group_of({placeholder({3}, f32, "g")}, kAdam.rule), decayed_adam(2)); },
           {"2 numbers", "1 variables"})
Operation update_by_factors(Shape a, Shape b, std::vector<int64_t> products) {
  const UpdateGroup group = group_of({placeholder({4, 5}, f32, "g")}, kDescent.rule);
  OptimizerUpdateAttrs attrs = kDescent;
  attrs.count = 1;
  attrs.products = std::move(products);
  return add_operation(
      op_optimizer_update,
      {constant(HostTensor(kRate)), placeholder(a, f32, "a"), placeholder(b, f32, "b"), group.variables[0].handle()},
      Attrs(attrs), "update");
}
OP_REFUSES(optimizer_update, factors_of_another_product,
           [] {
             update_by_factors({3, 5}, {3, 4}, {0});
           },
           {"[3, 5]", "[3, 4]", "[4, 5]"})
OP_REFUSES(optimizer_update, factors_that_do_not_multiply,
           [] {
             update_by_factors({3, 4}, {2, 5}, {0});
           },
           {"[3, 4]", "[2, 5]"})
OP_REFUSES(optimizer_update, sums_of_nothing,
           [] {
             update_by_factors({0, 4}, {0, 5}, {0});
           },
           {"[0, 4]", "[0, 5]", "between 1 and 1024 rows"})
OP_REFUSES(optimizer_update, sums_that_are_too_long,
           [] {
             update_by_factors({1025, 4}, {1025, 5}, {0});
           },
           {"[1025, 4]", "between 1 and 1024 rows"})
OP_REFUSES(optimizer_update, a_product_of_no_variable,
           [] {
             update_by_factors({3, 4}, {3, 5}, {1});
           },
           {"product 1", "below 1"})
OP_REFUSES(optimizer_update, variables_of_two_dtypes,
           [] {
             const TensorList grads{placeholder({3}, f32, "g"), placeholder({3}, f64, "h")};
             optimizer_update(0.1, group_of(grads, kDescent.rule), kDescent);
           },
           {"f32", "f64", "one dtype"})

}  // namespace
}  // namespace martello
