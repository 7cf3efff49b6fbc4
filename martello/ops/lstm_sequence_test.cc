#include <martello/autodiff/gradients.h>
#include <martello/graph/core_ops.h>
#include <martello/graph/scopes.h>
#include <martello/ops/internal/naive_lstm.h>
#include <martello/ops/internal/test_sequence.h>
#include <martello/ops/lstm_sequence.h>
#include <martello/runtime/session.h>
#include <martello/testing/op_test.h>

#include <gtest/gtest.h>

namespace martello::testing {
namespace {

using Sizes = SequenceSizes;

HostTensors inputs_of(const Sizes& s) {
  HostTensor w = randn({s.units, 4 * s.units}, 2);
  for (int64_t i = 0; i < w.num_elements(); ++i) w.set(i, w.at(i) / std::sqrt(static_cast<double>(s.units)));
  return {randn({s.steps, s.rows, 4 * s.units}), w, randn({s.rows, s.units}, 3), randn({s.rows, s.units}, 4)};
}

OpCase row(std::string label, Sizes s, double forget_bias = 1) {
  return {.label = std::move(label),
          .inputs = inputs_of(s),
          .build =
              [=](TensorList in) {
                const LstmState first{in[2], in[3]};
                const auto r = in.size() > 4 ? lstm_sequence(in[0], in[1], first, in[4], {.forget_bias = forget_bias})
                                             : lstm_sequence(in[0], in[1], first, {.forget_bias = forget_bias});
                return TensorList{r.y, r.state.h, r.state.c};
              },
          .reference = [=](const HostTensors& in) { return naive_lstm_sequence(in, forget_bias); }};
}

OpCase twice(OpCase c) {
  c.second_order = true;
  return c;
}

OpCase lengths_row(std::string label, Sizes s, HostTensor lengths) {
  OpCase c = row(std::move(label), s, 0);
  c.inputs.push_back(std::move(lengths));
  return c;
}

OpCase output_row(std::string label, int output) {
  OpCase c = lengths_row(std::move(label), {3, 4, 5}, HostTensor::of<int32_t>({2, 0, 3, 1}));
  c.build = [=](TensorList in) {
    const auto r = lstm_sequence(in[0], in[1], {in[2], in[3]}, in[4], {.forget_bias = 0});
    return TensorList{output == 0 ? r.y : output == 1 ? r.state.h : r.state.c};
  };
  c.reference = [=](const HostTensors& in) {
    return HostTensors{naive_lstm_sequence(in, 0)[static_cast<size_t>(output)]};
  };
  return c;
}

OpCase all_outputs() {
  OpCase c = lengths_row("gates and cells too", {3, 4, 5}, HostTensor::of<int32_t>({2, 0, 3, 1}));
  c.build = [](TensorList in) { return outputs_of(lstm_sequence(in[0], in[1], {in[2], in[3]}, in[4]).y.op()); };
  c.reference = {};
  return c;
}

OpCase grad_row(const Sizes& s, bool has_lengths) {
  const HostTensors in = inputs_of(s);
  const Shape sequence{s.steps, s.rows, s.units}, state{s.rows, s.units};
  OpCase c{.label = str(has_lengths ? "lengths " : "all steps ", sequence.str()),
           .inputs = {uniform({s.steps, s.rows, 4 * s.units}, 0.1, 0.9), randn(sequence, 5), in[1], in[3],
                      randn(sequence, 6), randn(state, 7), randn(state, 8)},
           .build =
               [](TensorList x) {
                 return outputs_of(
                     add_operation(op_lstm_sequence_grad, {x.begin(), x.end()}, Attrs(), "lstm_sequence_grad"));
               },
           .reference = naive_lstm_sequence_grad};
  if (has_lengths) c.inputs.push_back(lengths_of(s));
  return c;
}

OpCase value_only(OpCase c) {
  c.gradient = false;
  return c;
}

OpCase small_row(const Sizes& s, bool has_lengths) {
  const std::string label = str(s.rows, " of ", s.units);
  return has_lengths ? lengths_row(label + ", lengths", s, lengths_of(s)) : row(label, s);
}

const OpTestRows small_rows("lstm_sequence", __FILE__, __LINE__, sequence_rows(small_row));
const OpTestRows grad_rows("lstm_sequence_grad", __FILE__, __LINE__, sequence_rows(grad_row));

}  // namespace

OP_TEST(lstm_sequence, twice(row("a few", {3, 2, 4})), row("one of each", {1, 1, 1}),
        row("units of a block", {2, 3, 16}), row("units beyond a block", {4, 7, 37}, 0),
        row("rows beyond a block", {2, 101, 5}), row("both beyond", {3, 50, 67}),
        row("rows cut for two threads", {3, 20, 40}), row("odd sizes", {3, 17, 33}),
        row("one row of many units", {5, 1, 75}), row("long", {40, 1, 3}), row("no steps", {0, 3, 4}),
        row("no rows", {3, 0, 4}), row("no units", {3, 2, 0}),
        twice(lengths_row("lengths", {4, 5, 3}, HostTensor::of<int32_t>({4, 0, 1, 3, 2}))),
        lengths_row("long lengths", {5, 60, 20}, integers({60}, 0, 6, i64)),
        lengths_row("lengths of cut rows", {4, 21, 35}, integers({21}, 0, 5, i32)),
        lengths_row("a length of one row", {6, 1, 19}, HostTensor::of<int32_t>({4})),
        lengths_row("lengths of no steps", {0, 2, 4}, HostTensor::of<int32_t>({0, 0})), output_row("y alone", 0),
        output_row("h alone", 1), output_row("c alone", 2), all_outputs());
OP_TEST(lstm_sequence_grad, twice(grad_row({3, 2, 4}, false)), twice(grad_row({3, 5, 3}, true)),
        grad_row({0, 2, 3}, false), value_only(grad_row({2, 19, 70}, true)), value_only(grad_row({2, 1, 33}, false)));

OP_REFUSES(lstm_sequence, weights_of_other_units,
           [] {
             lstm_sequence(placeholder({5, 2, 12}, f32, "x"), placeholder({4, 16}, f32, "w"),
                           {placeholder({2, 4}, f32, "h"), placeholder({2, 4}, f32, "c")}, {}, "rnn");
           },
           {"[lstm_sequence 'rnn']", "12 columns", "4 times 4"})
OP_REFUSES(lstm_sequence, a_state_of_other_rows,
           [] {
             lstm_sequence(placeholder({5, 2, 16}, f32, "x"), placeholder({4, 16}, f32, "w"),
                           {placeholder({3, 4}, f32, "h"), placeholder({2, 4}, f32, "c")}, {}, "rnn");
           },
           {"[lstm_sequence 'rnn']", "h0 [3, 4]", "3 rows", "2"})
OP_REFUSES(lstm_sequence, a_sequence_of_rank_two,
           [] {
             lstm_sequence(placeholder({5, 16}, f32, "x"), placeholder({4, 16}, f32, "w"),
                           {placeholder({5, 4}, f32, "h"), placeholder({5, 4}, f32, "c")});
           },
           {"lstm_sequence", "[5, 16]", "3"})
OP_REFUSES(lstm_sequence, floating_lengths,
           [] {
             lstm_sequence(placeholder({5, 2, 16}, f32, "x"), placeholder({4, 16}, f32, "w"),
                           {placeholder({2, 4}, f32, "h"), placeholder({2, 4}, f32, "c")},
                           placeholder({2}, f32, "lengths"));
           },
           {"lstm_sequence", "f32[2]", "i32"})
OP_REFUSES(lstm_sequence, lengths_of_other_rows,
           [] {
             lstm_sequence(placeholder({5, 2, 16}, f32, "x"), placeholder({4, 16}, f32, "w"),
                           {placeholder({2, 4}, f32, "h"), placeholder({2, 4}, f32, "c")},
                           placeholder({3}, i32, "lengths"));
           },
           {"lstm_sequence", "[3]", "3 rows", "2"})
TEST(lstm_sequence, refuses_a_length_beyond_the_steps_when_it_runs) {
  for (const int32_t bad : {6, -1}) {
    GraphScope scope;
    const Tensor x = placeholder({5, 2, 4}, f32, "x"), lengths = placeholder({2}, i32, "lengths");
    const Tensor w = placeholder({1, 4}, f32, "w"), zero = constant(HostTensor::full({2, 1}, f32, 0));
    const auto r = lstm_sequence(x, w, {zero, zero}, lengths, {}, "rnn");
    const TensorList grad = gradients(r.y, x);
    try {
      Session().run({r.y, grad[0]}, {{"x", HostTensor({5, 2, 4}, f32)},
                                     {"w", HostTensor({1, 4}, f32)},
                                     {"lengths", HostTensor::of<int32_t>({5, bad})}});
      ADD_FAILURE() << "length " << bad << " was accepted";
    } catch (const InvalidArgument& e) {
      for (const std::string& part : {std::string("'rnn'"), str("lengths[1] is ", bad), std::string("5 steps")})
        EXPECT_NE(std::string(e.what()).find(part), std::string::npos) << e.what();
    }
  }
}

}  // namespace martello::testing
