#include <martello/graph/core_ops.h>
#include <martello/graph/scopes.h>
#include <martello/ops/internal/naive_index.h>
#include <martello/ops/internal/naive_reduce.h>
#include <martello/ops/internal/test_images.h>
#include <martello/ops/pool.h>
#include <martello/runtime/session.h>
#include <martello/testing/op_test.h>

#include <gtest/gtest.h>

#include <numeric>

namespace martello::testing {
namespace {

struct Format {
  DataFormat data_format = DataFormat::nhwc;
};

OpCase mean_row(std::string label, HostTensor x, Format f) {
  const ReduceAttrs pixels{.axes = f.data_format == DataFormat::nhwc ? Axes(1, 2) : Axes(2, 3)};
  const auto mean = [](const std::vector<double>& v) {
    return std::accumulate(v.begin(), v.end(), 0.0) / static_cast<double>(v.size());
  };
  return {.label = std::move(label),
          .inputs = {std::move(x)},
          .build = [=](TensorList in) { return TensorList{global_avg_pool(in[0], f.data_format)}; },
          .reference = [=](const HostTensors& in) { return HostTensors{internal::naive_reduce(in[0], pixels, mean)}; },
          .second_order = true};
}

OpCase unpool_row(std::string label, HostTensor x, Format f) {
  const int h = f.data_format == DataFormat::nhwc ? 1 : 2;
  const Shape y = x.shape().with(h, 2 * x.shape()[h]).with(h + 1, 3 * x.shape()[h + 1]);
  return {.label = std::move(label),
          .inputs = {std::move(x), randn({2, 3}, 2)},
          .build = [=](TensorList in) { return TensorList{unpool(in[0], in[1], f.data_format)}; },
          .reference =
              [=](const HostTensors& in) {
                return HostTensors{tabulate(y, f64, [&](Index o) {
                  int64_t &row = o[static_cast<size_t>(h)], &column = o[static_cast<size_t>(h) + 1];
                  const double cell = at(in[1], {row % 2, column % 3});
                  row /= 2;
                  column /= 3;
                  return at(in[0], o) * cell;
                })};
              },
          .second_order = true};
}

const OpTestRows mean_rows("global_avg_pool", __FILE__, __LINE__, image_rows<Format>({Format()}, mean_row));
const OpTestRows unpool_rows("unpool", __FILE__, __LINE__, image_rows<Format>({Format()}, unpool_row));

}  // namespace

TEST(unpool, keeps_the_top_left_without_a_matrix) {
  const HostTensor x = randn({1, 2, 3, 3});
  GraphScope scope;
  const HostTensor y = Session(scope.graph()).eval(unpool(constant(x), Size2(2, 3), DataFormat::nchw));
  ASSERT_EQ(y.shape(), Shape(1, 2, 6, 9));
  for (int64_t i = 0; i < y.num_elements(); ++i) {
    const Index o = index_of(y.shape(), i);
    const bool is_kept = o[2] % 2 == 0 && o[3] % 3 == 0;
    ASSERT_EQ(y.at(i), is_kept ? at(x, {o[0], o[1], o[2] / 2, o[3] / 3}) : 0) << i;
  }
}

OP_REFUSES(unpool, a_vector,
           [] {
             unpool(placeholder({1, 2, 2, 3}, f32, "x"), placeholder({3}, f32, "m"));
           },
           {"unpool", "[3]", "rank 2"})
OP_REFUSES(global_avg_pool, a_matrix,
           [] {
             global_avg_pool(placeholder({2, 3}, f32, "x"));
           },
           {"global_avg_pool", "[2, 3]", "rank 4"})

}  // namespace martello::testing
