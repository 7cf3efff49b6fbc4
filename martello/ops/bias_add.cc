#include <martello/base/error.h>
#include <martello/ops/bias_add.h>
#include <martello/ops/binary.h>
#include <martello/ops/dims.h>
#include <martello/ops/reshape.h>

namespace martello {

namespace {

void check_bias(Operand x, Operand b, DataFormat format, Name name) try {
  const std::string where = str("[bias_add '", name.text(), "'] ");
  MARTELLO_CHECK(!x.is_number() && !b.is_number(), where, "takes two tensors, not a number. Use x + number.");
  const Shape &sx = x.tensor().shape(), &sb = b.tensor().shape();
  MARTELLO_CHECK(sx.rank() >= 2, where, "x ", sx, " needs a batch and a channel dimension, rank 2 or more.");
  MARTELLO_CHECK(sb.rank() == 1, where, "b ", sb, " must be a vector, one number per channel.");
  const int axis = channel_axis(format, sx.rank());
  MARTELLO_CHECK(internal::may_be_equal(internal::dim_of(sx, axis), internal::dim_of(sb, 0)), where, "x has ", sx[axis],
                 " channels but b has ", sb[0], " numbers (x ", sx, " ", format, ", b ", sb, ").");
} catch (Error& e) {
  e.add_context(str("at ", LineScope::effective(x.line()).str()));
  throw;
}

}  // namespace

Tensor bias_add(Operand x, Operand b, BiasAddAttrs attrs, Name name) {
  check_bias(x, b, attrs.data_format, name);
  LineScope line(x.line());
  const Shape &sx = x.tensor().shape(), &sb = b.tensor().shape();
  const int axis = channel_axis(attrs.data_format, sx.rank());
  if (axis == sx.rank() - 1) return add(x, b, name);
  std::vector<int64_t> dims(static_cast<size_t>(sx.rank() - axis), 1);
  dims[0] = sb[0];
  return add(x, reshape(b, Shape(dims), str(name.text(), "_b")), name);
}
Tensor bias_add(Operand x, Operand b, Name name) { return bias_add(x, b, BiasAddAttrs{}, name); }

}  // namespace martello
