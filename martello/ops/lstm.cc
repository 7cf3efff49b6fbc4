#include <martello/ops/lstm.h>

#include <martello/base/error.h>
#include <martello/graph/scopes.h>
#include <martello/ops/binary.h>
#include <martello/ops/internal/gates.h>
#include <martello/ops/linear.h>
#include <martello/ops/matmul.h>
#include <martello/ops/transpose.h>

namespace martello {
namespace {

void check_given(const LstmWeights& w, std::string_view what, Name name) {
  MARTELLO_CHECK(!w.w_x.is_null() && !w.w_h.is_null() && !w.b.is_null(), "[", what, " '", name.text(),
                 "'] a weight is a null Tensor: w_x, w_h and b are all needed.\n  at ",
                 LineScope::effective(name.line()).str());
}

}  // namespace

LstmState lstm_step(Operand x, LstmState state, const LstmWeights& w, LstmAttrs attrs, Name name) {
  check_given(w, "lstm_step", name);
  LineScope line(x.line());
  NameScope scope(name.text());
  const Tensor z = linear(x, w.w_x, w.b, "gates") + matmul(state.h, w.w_h);
  return lstm_cell(z, state.c, attrs, "cell");
}

LstmSequence lstm(Operand x, const LstmWeights& w, LstmState first, const LstmOptions& options, Name name) {
  check_given(w, "lstm", name);
  LineScope line(x.line());
  NameScope scope(name.text());
  const Tensor steps = internal::time_major(x, options.is_time_major, "lstm", name);
  if (first.h.is_null()) first.h = internal::zero_state(steps, w.w_h);
  if (first.c.is_null()) first.c = internal::zero_state(steps, w.w_h);
  const Tensor gates = linear(steps, w.w_x, w.b, "gates");
  LstmSequence s = lstm_sequence(gates, w.w_h, first, options.lengths, {options.forget_bias}, "sequence");
  if (!options.is_time_major) s.y = transpose(s.y, {1, 0, 2}, "y");
  return s;
}

LstmStack lstm_stack(Operand x, const std::vector<LstmWeights>& layers, const std::vector<LstmState>& first,
                     const LstmOptions& options, const std::function<Tensor(Tensor)>& on_output, Name name) {
  const SourceLine line = LineScope::effective(name.line());
  MARTELLO_CHECK(!layers.empty(), "[lstm_stack '", name.text(), "'] has no layers.\n  at ", line.str());
  MARTELLO_CHECK(first.empty() || first.size() == layers.size(), "[lstm_stack '", name.text(), "'] has ", layers.size(),
                 " layers but ", first.size(), " first states. Give one per layer or none.\n  at ", line.str());
  LineScope outer(x.line());
  NameScope scope(name.text());
  LstmStack stack{internal::time_major(x, options.is_time_major, "lstm_stack", name), {}};
  LstmOptions inside = options;
  inside.is_time_major = true;
  for (size_t i = 0; i < layers.size(); ++i) {
    const LstmSequence s = lstm(stack.y, layers[i], first.empty() ? LstmState() : first[i], inside, str("layer", i));
    stack.y = on_output ? on_output(s.y) : s.y;
    stack.states.push_back(s.state);
  }
  if (!options.is_time_major) stack.y = transpose(stack.y, {1, 0, 2}, "y");
  return stack;
}

}  // namespace martello
