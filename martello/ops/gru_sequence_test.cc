#include <martello/autodiff/gradients.h>
#include <martello/graph/core_ops.h>
#include <martello/graph/scopes.h>
#include <martello/ops/gru_sequence.h>
#include <martello/ops/internal/naive_gru.h>
#include <martello/ops/internal/test_sequence.h>
#include <martello/runtime/session.h>
#include <martello/testing/op_test.h>

#include <gtest/gtest.h>

namespace martello::testing {
namespace {

using Sizes = SequenceSizes;

HostTensors inputs_of(const Sizes& s) {
  HostTensor w = randn({s.units, 3 * s.units}, 2);
  for (int64_t i = 0; i < w.num_elements(); ++i) w.set(i, w.at(i) / std::sqrt(static_cast<double>(s.units)));
  return {randn({s.steps, s.rows, 3 * s.units}), w, randn({3 * s.units}, 3), randn({s.rows, s.units}, 4)};
}

OpCase row(std::string label, const Sizes& s) {
  return {.label = std::move(label),
          .inputs = inputs_of(s),
          .build =
              [](TensorList in) {
                const auto r = in.size() > 4 ? gru_sequence(in[0], in[1], in[2], in[3], in[4])
                                             : gru_sequence(in[0], in[1], in[2], in[3]);
                return TensorList{r.y, r.h};
              },
          .reference = naive_gru_sequence};
}

OpCase twice(OpCase c) {
  c.second_order = true;
  return c;
}

OpCase lengths_row(std::string label, const Sizes& s, HostTensor lengths) {
  OpCase c = row(std::move(label), s);
  c.inputs.push_back(std::move(lengths));
  return c;
}

OpCase state_alone() {
  OpCase c = lengths_row("h alone", {3, 4, 5}, HostTensor::of<int32_t>({2, 0, 3, 1}));
  c.build = [](TensorList in) { return TensorList{gru_sequence(in[0], in[1], in[2], in[3], in[4]).h}; };
  c.reference = [](const HostTensors& in) { return HostTensors{naive_gru_sequence(in)[1]}; };
  return c;
}

OpCase grad_row(const Sizes& s, bool has_lengths) {
  const HostTensors in = inputs_of(s);
  const Shape sequence{s.steps, s.rows, s.units};
  OpCase c{
      .label = str(has_lengths ? "lengths " : "all steps ", sequence.str()),
      .inputs = {uniform({s.steps, s.rows, 4 * s.units}, 0.1, 0.9), randn(sequence, 5), in[1], in[3],
                 randn(sequence, 6), randn({s.rows, s.units}, 7)},
      .build =
          [](TensorList x) {
            return outputs_of(add_operation(op_gru_sequence_grad, {x.begin(), x.end()}, Attrs(), "gru_sequence_grad"));
          },
      .reference = naive_gru_sequence_grad};
  if (has_lengths) c.inputs.push_back(lengths_of(s));
  return c;
}

OpCase small_row(const Sizes& s, bool has_lengths) {
  const std::string label = str(s.rows, " of ", s.units);
  return has_lengths ? lengths_row(label + ", lengths", s, lengths_of(s)) : row(label, s);
}

const OpTestRows small_rows("gru_sequence", __FILE__, __LINE__, sequence_rows(small_row));
const OpTestRows grad_rows("gru_sequence_grad", __FILE__, __LINE__, sequence_rows(grad_row));

}  // namespace

OP_TEST(gru_sequence, twice(row("a few", {3, 2, 4})), row("one of each", {1, 1, 1}),
        row("units of a block", {2, 3, 16}), row("units beyond a block", {4, 7, 37}),
        row("rows beyond a block", {2, 101, 5}), row("rows cut for two threads", {3, 20, 40}),
        row("one row of many units", {5, 1, 75}), row("long", {40, 1, 3}), row("no steps", {0, 3, 4}),
        row("no rows", {3, 0, 4}), row("no units", {3, 2, 0}),
        twice(lengths_row("lengths", {4, 5, 3}, HostTensor::of<int32_t>({4, 0, 1, 3, 2}))),
        lengths_row("long lengths", {5, 60, 20}, integers({60}, 0, 6, i64)),
        lengths_row("lengths of cut rows", {4, 21, 35}, integers({21}, 0, 5, i32)), state_alone());
OP_TEST(gru_sequence_grad, twice(grad_row({3, 2, 4}, false)), twice(grad_row({3, 5, 3}, true)),
        grad_row({0, 2, 3}, false));

OP_REFUSES(gru_sequence, weights_of_other_units,
           [] {
             gru_sequence(placeholder({5, 2, 9}, f32, "x"), placeholder({4, 12}, f32, "w"), placeholder({12}, f32, "b"),
                          placeholder({2, 4}, f32, "h"), "rnn");
           },
           {"[gru_sequence 'rnn']", "9 columns", "3 times 4"})
OP_REFUSES(gru_sequence, a_bias_of_other_units,
           [] {
             gru_sequence(placeholder({5, 2, 12}, f32, "x"), placeholder({4, 12}, f32, "w"),
                          placeholder({11}, f32, "b"), placeholder({2, 4}, f32, "h"), "rnn");
           },
           {"[gru_sequence 'rnn']", "[11]", "[12]"})

TEST(gru_sequence, refuses_a_length_beyond_the_steps_when_it_runs) {
  GraphScope scope;
  const Tensor x = placeholder({5, 2, 3}, f32, "x"), lengths = placeholder({2}, i64, "lengths");
  const Tensor w = placeholder({1, 3}, f32, "w"), b = constant(HostTensor({3}, f32));
  const auto r = gru_sequence(x, w, b, constant(HostTensor({2, 1}, f32)), lengths, "rnn");
  try {
    Session().run({r.y, gradients(r.y, x)[0]}, {{"x", HostTensor({5, 2, 3}, f32)},
                                                {"w", HostTensor({1, 3}, f32)},
                                                {"lengths", HostTensor::of<int64_t>({5, 6})}});
    ADD_FAILURE();
  } catch (const InvalidArgument& e) {
    for (const char* part : {"'rnn'", "lengths[1] is 6", "5 steps"})
      EXPECT_PRED_FORMAT2(::testing::IsSubstring, part, e.what());
  }
}

}  // namespace martello::testing
