#include <martello/graph/core_ops.h>
#include <martello/graph/scopes.h>
#include <martello/ops/concat.h>
#include <martello/ops/lstm.h>
#include <martello/ops/slice.h>
#include <martello/ops/split.h>
#include <martello/ops/unary.h>
#include <martello/runtime/session.h>
#include <martello/testing/grad_check.h>
#include <martello/testing/op_test.h>

#include <gtest/gtest.h>

namespace martello::testing {
namespace {

constexpr int64_t kSteps = 4, kRows = 3, kInputs = 5, kUnits = 6;

// x, w_x, w_h, b, and a second layer.
HostTensors inputs() {
  return {randn({kRows, kSteps, kInputs}), randn({kInputs, 4 * kUnits}, 2), randn({kUnits, 4 * kUnits}, 3),
          randn({4 * kUnits}, 4),          randn({kUnits, 4 * kUnits}, 5),  randn({kUnits, 4 * kUnits}, 6),
          randn({4 * kUnits}, 7)};
}

TensorList unrolled(const TensorList& in) {
  const Tensor zero = constant(HostTensor::full({kRows, kUnits}, in[0].dtype(), 0));
  LstmState a{zero, zero}, b{zero, zero};
  TensorList ys;
  for (const Tensor& x : unstack(in[0], 1)) {
    a = lstm_step(x, a, {in[1], in[2], in[3]});
    b = lstm_step(a.h, b, {in[4], in[5], in[6]});
    ys.push_back(b.h);
  }
  return {stack(ys, 1), a.h, a.c, b.c};
}

TensorList stacked(const TensorList& in, bool is_time_major) {
  Tensor x = in[0];
  if (is_time_major) x = stack(unstack(x, 1), 0);
  const auto r = lstm_stack(x, {{in[1], in[2], in[3]}, {in[4], in[5], in[6]}}, {}, {.is_time_major = is_time_major});
  const Tensor y = is_time_major ? stack(unstack(r.y, 0), 1) : r.y;
  return {y, r.states[0].h, r.states[0].c, r.states[1].c};
}

HostTensors values(const std::function<TensorList(const TensorList&)>& build, bool is_unknown = false) {
  GraphScope scope;
  TensorList xs;
  Feeds feeds;
  for (const HostTensor& t : inputs()) {
    const Shape unknown(std::vector<int64_t>(static_cast<size_t>(t.shape().rank()), kUnknown));
    xs.push_back(placeholder(is_unknown ? unknown : t.shape(), t.dtype(), "x"));
    feeds.push_back({xs[xs.size() - 1], t});
  }
  return Session().run(build(xs), feeds);
}

void expect_close(const HostTensors& a, const HostTensors& b) {
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) {
    ASSERT_EQ(a[i].shape(), b[i].shape());
    for (int64_t k = 0; k < a[i].num_elements(); ++k) ASSERT_NEAR(a[i].at(k), b[i].at(k), 1e-12) << i << " " << k;
  }
}

TEST(lstm, a_stack_over_a_sequence_equals_its_steps_unrolled) {
  const HostTensors expected = values(unrolled);
  expect_close(values([](const TensorList& in) { return stacked(in, false); }), expected);
  expect_close(values([](const TensorList& in) { return stacked(in, true); }), expected);
}

TEST(lstm, sizes_may_be_unknown) {
  const auto build = [](const TensorList& in) {
    const auto r = lstm_stack(in[0], {{in[1], in[2], in[3]}, {in[4], in[5], in[6]}});
    return TensorList{r.y, r.states[0].h, r.states[0].c, r.states[1].c};
  };
  expect_close(values(build, true), values(build));
}

TEST(lstm, gradients_reach_all_weights) {
  check_gradients([](TensorList in) { return stacked(in, false); }, inputs());
  check_gradients(unrolled, inputs());
}

TEST(lstm, lengths_freeze_rows_in_every_layer) {
  const auto build = [](const TensorList& in) {
    const Tensor lengths = constant(HostTensor::of<int32_t>({2, 2, 2}));
    const auto r =
        lstm_stack(in[0], {{in[1], in[2], in[3]}, {in[4], in[5], in[6]}}, {}, LstmOptions{.lengths = lengths});
    return TensorList{strided_slice(r.y, {0, 0}, {kEnd, 2}), r.states[0].h, r.states[1].c};
  };
  const auto cut = [](const TensorList& in) {
    const auto r = lstm_stack(strided_slice(in[0], {0, 0}, {kEnd, 2}), {{in[1], in[2], in[3]}, {in[4], in[5], in[6]}});
    return TensorList{r.y, r.states[0].h, r.states[1].c};
  };
  expect_close(values(build), values(cut));
}

TEST(lstm, what_is_done_to_outputs_is_done_after_every_layer) {
  const auto build = [](const TensorList& in) {
    return TensorList{lstm_stack(in[0], {{in[1], in[2], in[3]}, {in[4], in[5], in[6]}}, {}, {}, [](Tensor y) {
                        return negative(y);
                      }).y};
  };
  const auto by_hand = [](const TensorList& in) {
    const Tensor y = negative(lstm(in[0], {in[1], in[2], in[3]}).y);
    return TensorList{negative(lstm(y, {in[4], in[5], in[6]}).y)};
  };
  expect_close(values(build), values(by_hand));
}

OP_REFUSES(lstm, another_number_of_states,
           [] {
             const Tensor x = placeholder({2, 3, 4}, f32, "x"), w = placeholder({4, 16}, f32, "w");
             const Tensor b = placeholder({16}, f32, "b"), h = placeholder({2, 4}, f32, "h");
             lstm_stack(x, {{w, w, b}, {w, w, b}}, {{h, h}}, {}, {}, "rnn");
           },
           {"[lstm_stack 'rnn']", "2 layers", "1 first states"})
OP_REFUSES(lstm, no_layers,
           [] {
             lstm_stack(placeholder({2, 3, 4}, f32, "x"), {}, {}, {}, {}, "rnn");
           },
           {"[lstm_stack 'rnn']", "no layers"})
OP_REFUSES(lstm, weights_that_were_never_made,
           [] {
             lstm(placeholder({2, 3, 4}, f32, "x"), {}, {}, {}, "rnn");
           },
           {"[lstm 'rnn']", "null Tensor"})
OP_REFUSES(lstm, a_matrix,
           [] {
             const Tensor w = placeholder({4, 16}, f32, "w");
             lstm(placeholder({2, 4}, f32, "x"), {w, w, placeholder({16}, f32, "b")}, {}, {}, "rnn");
           },
           {"[lstm 'rnn']", "rank 3", "f32[2, 4]"})

}  // namespace
}  // namespace martello::testing
