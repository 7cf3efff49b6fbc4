#include <martello/graph/core_ops.h>
#include <martello/graph/scopes.h>
#include <martello/ops/concat.h>
#include <martello/ops/gru.h>
#include <martello/ops/split.h>
#include <martello/runtime/session.h>
#include <martello/testing/grad_check.h>
#include <martello/testing/op_test.h>

#include <gtest/gtest.h>

namespace martello::testing {
namespace {

constexpr int64_t kSteps = 4, kRows = 3, kInputs = 5, kUnits = 6;

HostTensors inputs() {
  return {randn({kRows, kSteps, kInputs}), randn({kInputs, 3 * kUnits}, 2), randn({3 * kUnits}, 3),
          randn({kUnits, 3 * kUnits}, 4), randn({3 * kUnits}, 5)};
}

TensorList unrolled(const TensorList& in) {
  Tensor h = constant(HostTensor::full({kRows, kUnits}, in[0].dtype(), 0));
  TensorList ys;
  for (const Tensor& x : unstack(in[0], 1)) ys.push_back(h = gru_step(x, h, {in[1], in[2], in[3], in[4]}));
  return {stack(ys, 1), h};
}

TensorList layer(const TensorList& in) {
  const auto r = gru(in[0], {in[1], in[2], in[3], in[4]});
  return {r.y, r.h};
}

HostTensors values(const std::function<TensorList(const TensorList&)>& build) {
  GraphScope scope;
  TensorList xs;
  Feeds feeds;
  for (const HostTensor& t : inputs()) {
    xs.push_back(placeholder(t.shape(), t.dtype(), "x"));
    feeds.push_back({xs[xs.size() - 1], t});
  }
  return Session().run(build(xs), feeds);
}

TEST(gru, a_layer_over_a_sequence_equals_its_steps_unrolled) {
  const HostTensors a = values(unrolled), b = values(layer);
  for (size_t i = 0; i < a.size(); ++i) {
    ASSERT_EQ(a[i].shape(), b[i].shape());
    for (int64_t k = 0; k < a[i].num_elements(); ++k) ASSERT_NEAR(a[i].at(k), b[i].at(k), 1e-12) << i << " " << k;
  }
}

TEST(gru, gradients_reach_all_weights) {
  check_gradients(layer, inputs());
  check_gradients(unrolled, inputs());
}

OP_REFUSES(gru, weights_that_were_never_made,
           [] {
             gru(placeholder({2, 3, 4}, f32, "x"), {}, {}, {}, "rnn");
           },
           {"[gru 'rnn']", "null Tensor"})

}  // namespace
}  // namespace martello::testing
