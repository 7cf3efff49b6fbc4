#include <martello/base/error.h>
#include <martello/graph/core_ops.h>
#include <martello/ops/binary.h>
#include <martello/ops/pool.h>
#include <martello/ops/reduce.h>
#include <martello/ops/reshape.h>
#include <martello/ops/shape.h>

// What pooling is made of other ops.
namespace martello {

namespace {

void check_images(const char* op, Operand x, Name name) try {
  MARTELLO_CHECK(!x.is_number() && x.tensor().rank() == 4, "[", op, " '", name.text(), "'] x must be a batch of images",
                 ", rank 4; this one is ", x.is_number() ? str("a number") : x.tensor().shape().str(), ".");
} catch (Error& e) {
  e.add_context(str("at ", LineScope::effective(x.line()).str()));
  throw;
}
void check_matrix(Operand matrix, Name name) try {
  MARTELLO_CHECK(!matrix.is_number() && matrix.tensor().rank() == 2, "[unpool '", name.text(),
                 "'] the matrix must have rank 2; this one is ",
                 matrix.is_number() ? str("a number") : matrix.tensor().shape().str(), ".");
} catch (Error& e) {
  e.add_context(str("at ", LineScope::effective(matrix.line()).str()));
  throw;
}

}  // namespace

Tensor global_avg_pool(Operand x, DataFormat data_format, Name name) {
  check_images("global_avg_pool", x, name);
  return reduce_mean(x, {.axes = data_format == DataFormat::nhwc ? Axes(1, 2) : Axes(2, 3)}, name);
}

Tensor unpool(Operand x, Operand matrix, DataFormat data_format, Name name) {
  check_images("unpool", x, name);
  check_matrix(matrix, name);
  LineScope line(x.line());
  const Tensor s = shape(x), m = shape(matrix);
  const bool is_last = data_format == DataFormat::nhwc;
  const Tensor h = s[is_last ? 1 : 2], w = s[is_last ? 2 : 3], c = s[is_last ? 3 : 1], rows = h * m[0],
               columns = w * m[1];
  if (is_last) {
    const Tensor cells = reshape(x, {s[0], h, 1, w, 1, c}) * reshape(matrix, {m[0], 1, m[1], 1});
    return reshape(cells, {s[0], rows, columns, c}, name);
  }
  const Tensor cells = reshape(x, {s[0], c, h, 1, w, 1}) * reshape(matrix, {m[0], 1, m[1]});
  return reshape(cells, {s[0], c, rows, columns}, name);
}

Tensor unpool(Operand x, Size2 size, DataFormat data_format, Name name) {
  check_images("unpool", x, name);
  MARTELLO_CHECK(size.h >= 1 && size.w >= 1, "[unpool '", name.text(), "'] size is ", size,
                 "; both numbers must be at least 1.");
  HostTensor matrix(Shape(size.h, size.w), x.tensor().dtype());
  matrix.set(0, 1);
  return unpool(x, constant(matrix), data_format, name);
}

}  // namespace martello
