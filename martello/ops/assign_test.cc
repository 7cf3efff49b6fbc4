#include <martello/graph/core_ops.h>
#include <martello/ops/assign.h>
#include <martello/ops/initializers.h>
#include <martello/ops/variable.h>
#include <martello/testing/op_test.h>

#include <gtest/gtest.h>

namespace martello {
namespace {

using namespace testing;

// The variable's value after `write`, which starts from ones.
template <class Write>
Build after(Write write) {
  return [write](TensorList x) {
    Shape shape = x[0].shape();
    const Variable v =
        get_variable("v", {.shape = shape, .dtype = x[0].dtype(), .initializer = ones(), .trainable = false});
    ControlDependencies done({write(v, x[0])});
    return TensorList{read_variable(v)};
  };
}

OpCase write_case(std::string label, HostTensor input, Build build, double (*f)(double)) {
  return {.label = std::move(label),
          .inputs = {input},
          .build = std::move(build),
          .reference =
              [f](const HostTensors& in) {
                return HostTensors{map_elements(
                    in, [f](const std::vector<double>& x) { return f(x[0]); }, in[0].dtype())};
              },
          .gradient = false,
          .unknown_shapes = false};
}

const Build kAssign = after([](Variable v, Tensor x) { return assign(v, x); });
const Build kAdd = after([](Variable v, Tensor x) { return assign_add(v, x); });
const Build kSub = after([](Variable v, Tensor x) { return assign_sub(v, x); });

OP_TEST(assign, write_case("matrix", randn({5, 7}), kAssign, [](double x) { return x; }),
        write_case("rank 0", randn({}), kAssign, [](double x) { return x; }),
        write_case("zero-size", randn({0, 3}), kAssign, [](double x) { return x; }),
        write_case("rank 6", randn({2, 1, 3, 1, 2, 2}), kAssign, [](double x) { return x; }),
        write_case("i64", integers({9}, -5, 5, i64), kAssign, [](double x) { return x; }),
        write_case("more than one chunk", randn({70000}), kAssign, [](double x) { return x; }));
OP_TEST(assign_add, write_case("matrix", randn({5, 7}), kAdd, [](double x) { return 1 + x; }),
        write_case("u8", integers({9}, 0, 5, u8), kAdd, [](double x) { return 1 + x; }),
        write_case("more than one chunk", randn({70000}), kAdd, [](double x) { return 1 + x; }));
OP_TEST(assign_sub, write_case("matrix", randn({5, 7}), kSub, [](double x) { return 1 - x; }),
        write_case("i32", integers({9}, 0, 5, i32), kSub, [](double x) { return 1 - x; }));
OP_TEST(read_variable, write_case("after an assign", randn({3}), kAssign, [](double x) { return x; }));
OP_TEST(variable, write_case("after an update", randn({3}), kAdd, [](double x) { return 1 + x; }));
OP_TEST(copy,
        {.label = "matrix",
         .inputs = {randn({5, 33})},
         .build = [](TensorList x) { return TensorList{copy(x[0])}; },
         .reference = [](const HostTensors& in) { return in; }},
        {.label = "zero-size",
         .inputs = {randn({4, 0})},
         .build = [](TensorList x) { return TensorList{copy(x[0])}; },
         .reference = [](const HostTensors& in) { return in; }});
// Seen through its effect: random ops of the next run differ (random_test.cc); here, that it counts one stream.
OP_TEST(advance_counter,
        {.label = "counts the plain stream",
         .inputs = {randn({2})},
         .build =
             [](TensorList) {
               const Variable v =
                   get_variable("v", {.shape = {2}, .dtype = i64, .initializer = zeros(), .trainable = false});
               ControlDependencies done({add_operation(op_advance_counter, {Operand(v.handle())}, Attrs(), "advance")});
               return TensorList{read_variable(v)};
             },
         .reference =
             [](const HostTensors&) {
               return HostTensors{HostTensor::of<int64_t>({0, 1})};
             },
         .dtypes = {f32},
         .gradient = false});

Variable cell(Shape shape, DType dtype) {
  return get_variable("cell", {.shape = shape, .dtype = dtype, .initializer = zeros(), .trainable = false});
}
OP_REFUSES(assign, another_shape,
           [] {
             assign(cell({2, 3}, f32), placeholder({3, 2}, f32, "x"));
           },
           {"assign", "[2, 3]", "[3, 2]"})
OP_REFUSES(assign, another_dtype, [] { assign(cell({2}, f32), placeholder({2}, f64, "x")); }, {"f32", "f64", "cast"})
OP_REFUSES(assign, a_null_variable, [] { assign(Variable(), 1); }, {"assign", "null"})
OP_REFUSES(assign_add, booleans, [] { assign_add(cell({2}, boolean), placeholder({2}, boolean, "x")); },
           {"assign_add", "bool"})

}  // namespace
}  // namespace martello
