#include <martello/base/error.h>
#include <martello/ops/broadcast.h>
#include <martello/ops/dims.h>
#include <martello/ops/gather.h>
#include <martello/ops/internal/random_op.h>
#include <martello/ops/random.h>
#include <martello/ops/shape.h>

#include <cmath>

namespace martello {

Kernel random_uniform_cpu(const KernelPlan&);
Kernel random_normal_cpu(const KernelPlan&);
Kernel random_truncated_normal_cpu(const KernelPlan&);
Kernel random_bernoulli_cpu(const KernelPlan&);
Kernel random_integers_cpu(const KernelPlan&);
Kernel random_permutation_cpu(const KernelPlan&);
Kernel random_categorical_cpu(const KernelPlan&);

namespace {

using internal::check_counter;
using internal::random_cost;

// The asked shape, in the run known.
TensorSpec random_spec(const ShapeContext& c, const Shape& attr, DType dtype) {
  check_counter(c);
  const std::vector<int64_t> sizes = internal::asked_sizes(c, 1, attr);
  for (int64_t d : sizes)
    MARTELLO_CHECK(d >= 0 || c.in.size() > 1, c.where(), "every size must be given, got ", internal::dims_text(sizes),
                   ". Use shape(x) for the shape of a tensor.");
  return {.shape = Shape(sizes), .dtype = dtype};
}

void check_random_floating(const ShapeContext& c, DType dtype) {
  MARTELLO_CHECK(kFloatingDTypes.has(dtype), c.where(), "gives ", kFloatingDTypes, ", not ", dtype, ". Use cast().");
}

std::vector<TensorSpec> uniform_shape(const ShapeContext& c) {
  const auto& attrs = c.attrs<RandomUniformAttrs>();
  check_random_floating(c, attrs.dtype);
  MARTELLO_CHECK(std::isfinite(attrs.low) && std::isfinite(attrs.high) && attrs.low < attrs.high, c.where(), "low ",
                 attrs.low, " must be below high ", attrs.high, ", both finite.");
  return {random_spec(c, attrs.shape, attrs.dtype)};
}

std::vector<TensorSpec> normal_shape(const ShapeContext& c) {
  const auto& attrs = c.attrs<RandomNormalAttrs>();
  check_random_floating(c, attrs.dtype);
  MARTELLO_CHECK(std::isfinite(attrs.mean) && std::isfinite(attrs.stddev) && attrs.stddev >= 0, c.where(), "mean ",
                 attrs.mean, " must be finite and stddev ", attrs.stddev, " finite and not negative.");
  return {random_spec(c, attrs.shape, attrs.dtype)};
}

std::vector<TensorSpec> bernoulli_shape(const ShapeContext& c) {
  const auto& attrs = c.attrs<RandomBernoulliAttrs>();
  MARTELLO_CHECK(attrs.p >= 0 && attrs.p <= 1, c.where(), "p ", attrs.p, " is no probability: it lies in [0, 1].");
  return {random_spec(c, attrs.shape, boolean)};
}

std::vector<TensorSpec> integers_shape(const ShapeContext& c) {
  const auto& attrs = c.attrs<RandomIntegersAttrs>();
  MARTELLO_CHECK(attrs.dtype == i32 || attrs.dtype == i64, c.where(), "gives i32 or i64, not ", attrs.dtype, ".");
  MARTELLO_CHECK(attrs.low < attrs.high, c.where(), "low ", attrs.low, " must be below high ", attrs.high, ".");
  MARTELLO_CHECK(attrs.dtype == i64 || (attrs.low >= INT32_MIN && attrs.high - 1 <= INT32_MAX), c.where(), "[",
                 attrs.low, ", ", attrs.high, ") does not fit i32. Use .dtype = i64.");
  return {random_spec(c, attrs.shape, attrs.dtype)};
}

std::vector<TensorSpec> permutation_shape(const ShapeContext& c) {
  const TensorSpec y = random_spec(c, c.attrs<RandomPermutationAttrs>().shape, i64);
  MARTELLO_CHECK(y.shape.rank() == 1, c.where(), "takes one size, got ", y.shape, ".");
  return {y};
}

std::vector<TensorSpec> categorical_shape(const ShapeContext& c) {
  check_counter(c);
  c.check_floating(1);
  c.check_rank(1, 2);
  const int64_t samples = c.attrs<RandomCategoricalAttrs>().samples, classes = c.in[1].shape[1];
  MARTELLO_CHECK(samples >= 0, c.where(), "samples ", samples, " must not be negative.");
  MARTELLO_CHECK(classes != 0, c.where(), "logits ", c.in[1].shape, " have no class to choose.");
  return {{.shape = Shape(internal::dim_of(c.in[1].shape, 0), samples), .dtype = i64}};
}

using ShapeFn = std::vector<TensorSpec> (*)(const ShapeContext&);

// The facts that ops which fill an asked shape share.
template <class A>
constexpr OpDef random_op(const char* name, const char* doc, ShapeFn shape, KernelFn cpu,
                          NameList inputs = {"counter", "shape..."}) {
  return {.name = name,
          .doc = doc,
          .inputs = inputs,
          .outputs = {"y"},
          .attrs = &attrs_type<A>,
          .shape = shape,
          .gradient = no_gradient,
          .cpu = cpu,
          .counter_input = 0,
          .cost = random_cost,
          .family = "Random"};
}

// Adds the node with its counter and key.
template <class A>
Tensor add_random(const OpDef& def, std::vector<Operand> in, const Extents* shape, A attrs, Name name) {
  const internal::RandomSite site = internal::make_random_site(name);
  const Name unique(site.name, name.line());
  LineScope line(name.line());
  attrs.key = site.key;
  in.insert(in.begin(), Operand(site.counter, name.line()));
  if constexpr (requires { attrs.shape; }) {
    attrs.shape = shape->is_static() ? shape->shape() : Shape();
    in = with_extents(in, *shape, unique);
  }
  return add_op(def, in, attrs, unique);
}

}  // namespace

constinit const OpDef op_random_uniform = random_op<RandomUniformAttrs>(
    "random_uniform", "y = independent numbers, all equally likely in [low, high)", uniform_shape, random_uniform_cpu);

constinit const OpDef op_random_normal = random_op<RandomNormalAttrs>(
    "random_normal", "y = independent normal numbers with `mean` and `stddev`", normal_shape, random_normal_cpu);

constinit const OpDef op_random_truncated_normal = random_op<RandomNormalAttrs>(
    "random_truncated_normal", "y = independent normal numbers, none further than two `stddev` from `mean`",
    normal_shape, random_truncated_normal_cpu);

constinit const OpDef op_random_bernoulli = random_op<RandomBernoulliAttrs>(
    "random_bernoulli", "y = true with probability p, else false", bernoulli_shape, random_bernoulli_cpu);

constinit const OpDef op_random_integers = random_op<RandomIntegersAttrs>(
    "random_integers", "y = independent whole numbers, all equally likely in [low, high)", integers_shape,
    random_integers_cpu);

constinit const OpDef op_random_permutation = random_op<RandomPermutationAttrs>(
    "random_permutation", "y = 0 ... n - 1 in an order of which all are equally likely", permutation_shape,
    random_permutation_cpu, {"counter", "n..."});

constinit const OpDef op_random_categorical = {
    .name = "random_categorical",
    .doc = "y[i, j] = class c of row i with probability softmax(logits[i])[c]",
    .inputs = {"counter", "logits"},
    .outputs = {"y"},
    .attrs = &attrs_type<RandomCategoricalAttrs>,
    .shape = categorical_shape,
    .gradient = not_differentiable,
    .cpu = random_categorical_cpu,
    .counter_input = 0,
    .rows_of = [](const ShapeContext&, size_t input) { return internal::same_if(input == 1); },
    .cost = random_cost,
    .family = "Random",
};

Tensor random_uniform(Extents shape, RandomUniformAttrs attrs, Name name) {
  return add_random(op_random_uniform, {}, &shape, attrs, name);
}
Tensor random_normal(Extents shape, RandomNormalAttrs attrs, Name name) {
  return add_random(op_random_normal, {}, &shape, attrs, name);
}
Tensor random_truncated_normal(Extents shape, RandomNormalAttrs attrs, Name name) {
  return add_random(op_random_truncated_normal, {}, &shape, attrs, name);
}
Tensor random_bernoulli(Extents shape, RandomBernoulliAttrs attrs, Name name) {
  return add_random(op_random_bernoulli, {}, &shape, attrs, name);
}
Tensor random_integers(Extents shape, RandomIntegersAttrs attrs, Name name) {
  return add_random(op_random_integers, {}, &shape, attrs, name);
}
Tensor random_permutation(Extents n, Name name) {
  return add_random(op_random_permutation, {}, &n, RandomPermutationAttrs{}, name);
}
Tensor random_shuffle(Operand x, Name name) {
  LineScope line(name.line());
  const Tensor order = random_permutation(shape(x)[0], str(name.text(), "_order"));
  return gather(x, order, name);
}
Tensor random_categorical(Operand logits, RandomCategoricalAttrs attrs, Name name) {
  return add_random(op_random_categorical, {logits}, nullptr, attrs, name);
}

}  // namespace martello
