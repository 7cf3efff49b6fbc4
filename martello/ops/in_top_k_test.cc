#include <martello/graph/core_ops.h>
#include <martello/ops/in_top_k.h>
#include <martello/testing/op_test.h>

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace martello::testing {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN(), kInf = std::numeric_limits<double>::infinity();

OpCase in_top_row(std::string label, HostTensor x, HostTensor targets, int64_t k) {
  return {.label = std::move(label),
          .inputs = {std::move(x), std::move(targets)},
          .build = [=](TensorList in) { return TensorList{in_top_k(in[0], in[1], k)}; },
          .reference =
              [=](const HostTensors& in) {
                const int64_t n = in[0].shape()[-1];
                HostTensor y(in[1].shape(), boolean);
                for (int64_t r = 0; r < y.num_elements(); ++r) {
                  const double target = in[0].at(r * n + static_cast<int64_t>(in[1].at(r)));
                  int64_t larger = 0;
                  for (int64_t i = 0; i < n; ++i) larger += in[0].at(r * n + i) > target;
                  y.set(r, std::isfinite(target) && larger < k);
                }
                return HostTensors{y};
              },
          .gradient = false};
}

OpCase incorrect_row(std::string label, HostTensor x, HostTensor labels) {
  return {.label = std::move(label),
          .inputs = {std::move(x), std::move(labels)},
          .build = [](TensorList in) { return TensorList{prediction_incorrect(in[0], in[1])}; },
          .reference =
              [](const HostTensors& in) {
                const int64_t n = in[0].shape()[-1];
                HostTensor y(in[1].shape(), f32);
                for (int64_t r = 0; r < y.num_elements(); ++r) {
                  int64_t best = 0;
                  for (int64_t i = 1; i < n; ++i)
                    if (in[0].at(r * n + i) > in[0].at(r * n + best)) best = i;
                  y.set(r, in[1].at(r) != static_cast<double>(best));
                }
                return HostTensors{y};
              },
          .gradient = false};
}

}  // namespace

OP_TEST(in_top_k, in_top_row("first", randn({64, 10}), integers({64}, 0, 10), 1),
        in_top_row("five", randn({64, 10}), integers({64}, 0, 10, i64), 5),
        in_top_row("ties", integers({50, 6}, 0, 3).cast(f64), integers({50}, 0, 6), 2),
        in_top_row("not finite", HostTensor::of<double>({1, kNan, kInf, 1, 2, -kInf}, {2, 3}),
                   HostTensor::of<int32_t>({1, 2}), 3),
        in_top_row("sequence", randn({3, 4, 5}), integers({3, 4}, 0, 5), 2),
        in_top_row("no rows", randn({0, 5}), integers({0}, 0, 5), 2));

OP_TEST(prediction_incorrect, incorrect_row("rows", randn({64, 3}), integers({64}, 0, 3)),
        incorrect_row("equal logits", HostTensor({4, 3}, f64), HostTensor::of<int64_t>({0, 1, 2, 0})),
        incorrect_row("ties", integers({80, 4}, 0, 3).cast(f64), integers({80}, 0, 4)),
        incorrect_row("one row", randn({7}), integers({}, 0, 7)));

OP_REFUSES(in_top_k, no_k,
           [] {
             in_top_k(placeholder({4, 3}, f32, "x"), placeholder({4}, i32, "t"), 0);
           },
           {"in_top_k", "k is 0"})
OP_REFUSES(prediction_incorrect, other_rows,
           [] {
             prediction_incorrect(placeholder({4, 3}, f32, "x"), placeholder({3}, i32, "label"));
           },
           {"prediction_incorrect", "[3]", "[4]"})

}  // namespace martello::testing
