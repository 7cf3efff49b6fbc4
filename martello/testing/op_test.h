#pragma once
#include <martello/graph/tensor.h>
#include <martello/tensor/host_tensor.h>

#include <functional>
#include <map>
#include <string>
#include <vector>

// Ops are tested from a table; the harness does the rest. For users' ops too.
//
//   OP_TEST(softmax,
//     {.label = "last axis", .inputs = {randn({4, 7})},
//      .build = [](TensorList x) { return TensorList{softmax(x[0])}; },
//      .reference = naive_softmax},
//     {...});
//   OP_REFUSES(softmax, axis_out_of_range, [] { softmax(placeholder({2}, f32, "x"), {.axis = 3}); },
//              {"softmax", "axis 3", "[2]"});
//
// For each row: inferred shape against actual (with known and with unknown dimensions), value against the naive
// reference in every dtype of `dtypes`, the same bits with 1, 2 and 4 threads, gradient against finite differences in
// f64 after an asymmetric reduction, the graph through text and back.
namespace martello::testing {

using Build = std::function<TensorList(TensorList)>;
// Naive and obvious; gets the inputs as fed, gives the expected outputs (any dtype; compared as numbers).
using Reference = std::function<HostTensors(const HostTensors&)>;

struct OpCase {
  std::string label = {};
  HostTensors inputs = {};  // floating ones are cast to each dtype of `dtypes`
  Build build = {};
  Reference reference = {};
  std::vector<DType> dtypes = {f32, f64};
  bool gradient = true;        // check the gradient of every floating input in f64
  bool second_order = false;   // and the gradient of the gradient
  bool same_bits = true;       // with 1, 2 and 4 threads (library kernels may differ)
  bool unknown_shapes = true;  // also build with every dimension unknown
  bool text_round_trip = true;
  double tolerance = 0;  // relative; 0: 1e-5 for f32, 1e-12 for f64
  double gradient_tolerance = 1e-6;
  double step = 1e-5;  // of the finite difference
};

// Deterministic inputs.
HostTensor randn(Shape shape, uint64_t seed = 1);                                                   // f64
HostTensor uniform(Shape shape, double low, double high, uint64_t seed = 1);                        // f64
HostTensor integers(Shape shape, int64_t low, int64_t high, DType dtype = i32, uint64_t seed = 1);  // [low, high)
HostTensor booleans(Shape shape, uint64_t seed = 1);
// 0, 1, 2 ...
HostTensor iota(Shape shape, DType dtype = f64);

// Element-wise naive reference with numpy broadcasting.
HostTensor map_elements(const HostTensors& in, const std::function<double(const std::vector<double>&)>& f, DType out);

void run_op_case(const std::string& op, const OpCase& c);
// Fails unless `build`, run inside a fresh GraphScope, throws an Error whose text has all of `parts`, this file's name
// and a line number.
void expect_refused(const std::function<void()>& build, const std::vector<std::string>& parts, const char* file);

// Ops with rows in this test binary and how many, for the coverage test.
std::map<std::string, size_t> tested_ops();
struct OpTestRows {
  OpTestRows(const char* op, const char* file, int line, std::vector<OpCase> rows);  // registers one gtest per row
};

}  // namespace martello::testing

#define OP_TEST(op, ...) \
  static const ::martello::testing::OpTestRows op_test_rows_##op(#op, __FILE__, __LINE__, {__VA_ARGS__})
#define OP_REFUSES(op, what, build, ...) \
  TEST(op##_refuses, what) { ::martello::testing::expect_refused(build, __VA_ARGS__, __FILE__); }
