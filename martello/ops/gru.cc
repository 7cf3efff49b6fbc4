#include <martello/ops/gru.h>

#include <martello/base/error.h>
#include <martello/graph/scopes.h>
#include <martello/ops/internal/gates.h>
#include <martello/ops/linear.h>
#include <martello/ops/transpose.h>

namespace martello {
namespace {

void check_given(const GruWeights& w, std::string_view what, Name name) {
  const bool has_null = w.w_x.is_null() || w.b_x.is_null() || w.w_h.is_null() || w.b_h.is_null();
  MARTELLO_CHECK(!has_null, "[", what, " '", name.text(),
                 "'] a weight is a null Tensor: w_x, b_x, w_h and b_h are all needed.\n  at ",
                 LineScope::effective(name.line()).str());
}

}  // namespace

Tensor gru_step(Operand x, Tensor h, const GruWeights& w, Name name) {
  check_given(w, "gru_step", name);
  LineScope line(x.line());
  NameScope scope(name.text());
  return gru_cell(linear(x, w.w_x, w.b_x, "of_x"), linear(h, w.w_h, w.b_h, "of_h"), h, "cell");
}

GruSequence gru(Operand x, const GruWeights& w, Tensor first, const GruOptions& options, Name name) {
  check_given(w, "gru", name);
  LineScope line(x.line());
  NameScope scope(name.text());
  const Tensor steps = internal::time_major(x, options.is_time_major, "gru", name);
  if (first.is_null()) first = internal::zero_state(steps, w.w_h);
  GruSequence s = gru_sequence(linear(steps, w.w_x, w.b_x, "of_x"), w.w_h, w.b_h, first, options.lengths, "sequence");
  if (!options.is_time_major) s.y = transpose(s.y, {1, 0, 2}, "y");
  return s;
}

}  // namespace martello
