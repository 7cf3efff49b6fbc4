#include <martello/base/error.h>
#include <martello/ops/concat.h>
#include <martello/ops/dims.h>
#include <martello/ops/matmul.h>
#include <martello/ops/reshape.h>
#include <martello/ops/shape.h>
#include <martello/ops/transpose.h>

#include <algorithm>
#include <numeric>

namespace martello {
namespace {

std::vector<int> checked_axes(const std::string& where, const char* what, const Axes& axes, const Shape& shape) {
  std::vector<int> list;
  for (int axis : axes.values()) {
    const int normalized = normalized_axis(axis, shape.rank());
    MARTELLO_CHECK(normalized >= 0, where, "axis ", axis, " is out of range for ", what, " ", shape, ".");
    MARTELLO_CHECK(std::find(list.begin(), list.end(), normalized) == list.end(), where, "axis ", axis, " of ", what,
                   " ", shape, " is named twice.");
    list.push_back(normalized);
  }
  return list;
}

std::vector<int> others(const std::vector<int>& axes, int rank) {
  std::vector<int> list;
  for (int i = 0; i < rank; ++i)
    if (std::find(axes.begin(), axes.end(), i) == axes.end()) list.push_back(i);
  return list;
}

Tensor permuted(Tensor x, std::vector<int> first, const std::vector<int>& second) {
  first.insert(first.end(), second.begin(), second.end());
  return std::is_sorted(first.begin(), first.end()) ? x : transpose(x, first);
}

// What to sum over, all checked.
struct Sums {
  std::vector<int> a, b;
};
Sums checked_sums(Operand a, Operand b, const TensordotAttrs& attrs, Name name) try {
  const std::string where = str("[tensordot '", name.text(), "'] ");
  MARTELLO_CHECK(!a.is_number() && !b.is_number(), where, "takes two tensors, not a number. Use a * number.");
  const Shape &sa = a.tensor().shape(), &sb = b.tensor().shape();
  const Sums sums{checked_axes(where, "a", attrs.a_axes, sa), checked_axes(where, "b", attrs.b_axes, sb)};
  MARTELLO_CHECK(sums.a.size() == sums.b.size(), where, "names ", sums.a.size(), " axes of a but ", sums.b.size(),
                 " of b.");
  for (size_t i = 0; i < sums.a.size(); ++i)
    MARTELLO_CHECK(internal::may_be_equal(sa[sums.a[i]], sb[sums.b[i]]), where, "axis ", sums.a[i], " of a ", sa,
                   " and axis ", sums.b[i], " of b ", sb, " have sizes ", sa[sums.a[i]], " and ", sb[sums.b[i]], ".");
  return sums;
} catch (Error& e) {
  e.add_context(str("at ", LineScope::effective(a.line()).str()));
  throw;
}

// Sizes of these dimensions; as scalars of shape(x) where unknown.
TensorList sizes_of(Tensor x, const std::vector<int>& axes) {
  TensorList list;
  for (int axis : axes) list.push_back(shape(x)[axis]);
  return list;
}

bool are_known(const Shape& shape, const std::vector<int>& axes) {
  return std::all_of(axes.begin(), axes.end(), [&](int axis) { return shape[axis] >= 0; });
}

int64_t product(const Shape& shape, const std::vector<int>& axes) {
  Shape part;
  for (int axis : axes) part.push_back(shape[axis]);
  return part.num_elements();
}

// x as a matrix whose `inner` side is the summed dimensions.
Tensor as_matrix(const std::string& where, Tensor x, const std::vector<int>& rows, const std::vector<int>& columns) {
  const Tensor y = permuted(x, rows, columns);
  if (are_known(x.shape(), columns)) {
    const bool is_static = are_known(x.shape(), rows);
    const int64_t count = product(x.shape(), columns);
    MARTELLO_CHECK(is_static || count > 0, where, "x ", x.shape(), " has an unknown size beside an empty dimension.");
    return reshape(y, {is_static ? product(x.shape(), rows) : kUnknown, count});
  }
  MARTELLO_CHECK(are_known(x.shape(), rows), where, "both the summed and the other dimensions of ", x.shape(),
                 " have unknown sizes. Reshape it before.");
  return reshape(y, {product(x.shape(), rows), kUnknown});
}

}  // namespace

Tensor tensordot(Operand a, Operand b, TensordotAttrs attrs, Name name) {
  const auto [sum_a, sum_b] = checked_sums(a, b, attrs, name);
  LineScope line(a.line());
  const std::string where = str("[tensordot '", name.text(), "'] ");
  const Tensor ta = a.tensor(), tb = b.tensor();
  const auto free_a = others(sum_a, ta.rank()), free_b = others(sum_b, tb.rank());
  const Tensor y = matmul(as_matrix(where, ta, free_a, sum_a), as_matrix(where, tb, sum_b, free_b));
  Shape out;
  for (int axis : free_a) out.push_back(ta.shape().symbolic()[static_cast<size_t>(axis)]);
  for (int axis : free_b) out.push_back(tb.shape().symbolic()[static_cast<size_t>(axis)]);
  const auto unknown = std::count_if(out.symbolic().begin(), out.symbolic().end(), [](int64_t d) { return d < 0; });
  if (unknown <= 1) return reshape(y, out, name);
  TensorList sizes = sizes_of(ta, free_a);
  for (Tensor t : sizes_of(tb, free_b)) sizes.push_back(t);
  return reshape(y, Extents(stack(sizes, 0)), name);
}

Tensor tensordot(Operand a, Operand b, int axes, Name name) {
  const int ra = a.is_number() ? 0 : a.tensor().rank(), rb = b.is_number() ? 0 : b.tensor().rank();
  MARTELLO_CHECK(0 <= axes && axes <= std::min(ra, rb), "[tensordot '", name.text(), "'] cannot sum over ", axes,
                 " axes of tensors of rank ", ra, " and ", rb, ".\n  at ", LineScope::effective(a.line()).str());
  std::vector<int> last(static_cast<size_t>(axes)), first(static_cast<size_t>(axes));
  std::iota(last.begin(), last.end(), ra - axes);
  std::iota(first.begin(), first.end(), 0);
  return tensordot(a, b, TensordotAttrs{Axes(last), Axes(first)}, name);
}

}  // namespace martello
