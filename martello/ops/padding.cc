#include <martello/base/checked.h>
#include <martello/base/error.h>
#include <martello/ops/padding.h>

#include <algorithm>

namespace martello {

std::vector<std::string> enum_names(Pad) { return {"same", "valid"}; }

std::string Size2::str() const { return martello::str("[", h, ", ", w, "]"); }

std::string Padding::str() const {
  if (*this == Padding(rule_)) return enum_names(rule_)[static_cast<size_t>(rule_)];
  return martello::str("[", top_, ", ", bottom_, ", ", left_, ", ", right_, "]");
}

namespace internal {
namespace {

void check_steps(const std::string& where, Size2 stride, Size2 dilation, const Padding& padding) {
  for (int axis = 0; axis < 2; ++axis) {
    MARTELLO_CHECK(stride[axis] >= 1, where, "stride is ", stride, "; both numbers must be at least 1.");
    MARTELLO_CHECK(dilation[axis] >= 1, where, "dilation is ", dilation, "; both numbers must be at least 1.");
    const int before = padding.before(axis), after = padding.after(axis);
    MARTELLO_CHECK(before >= 0 && after >= 0, where, "padding ", padding,
                   " (top, bottom, left, right) must not be negative. Use slice() to cut.");
    MARTELLO_CHECK(padding.rule() == Pad::valid || (before == 0 && after == 0), where,
                   "same padding finds its own numbers; the padding given is ", padding, ". Use valid with numbers.");
  }
}

void set_same(WindowAxis& a, int64_t reach) {
  if (a.in < 0) {
    a.out = a.stride == 1 ? a.in : kUnknown;
    return;
  }
  a.out = ceil_div(a.in, a.stride);
  if (reach < 0) return;
  const int64_t covered = checked_add(checked_mul(a.out - 1, a.stride), reach);
  const int64_t total = std::max<int64_t>(covered - a.in, 0);
  a.before = total / 2;
  a.after = total - a.before;
}

void set_valid(WindowAxis& a, int64_t reach, const Padding& padding, int axis) {
  a.before = padding.before(axis);
  a.after = padding.after(axis);
  if (reach == 1 && a.stride == 1 && a.before + a.after == 0) a.out = a.in;
  if (a.in < 0 || reach < 0) return;
  const int64_t padded = checked_add(a.in, a.before + a.after);
  a.out = padded < reach ? 0 : (padded - reach) / a.stride + 1;
}

}  // namespace

WindowAxis window_axis(const std::string& where, int axis, int64_t in, int64_t window, Size2 stride, Size2 dilation,
                       const Padding& padding) {
  check_steps(where, stride, dilation, padding);
  const char* name = axis == 0 ? "height" : "width";
  MARTELLO_CHECK(window != 0, where, "the window has ", name, " 0; it must be at least 1.");
  WindowAxis a{.in = in, .window = window, .stride = stride[axis], .dilation = dilation[axis]};
  const int64_t reach = window < 0 ? kUnknown : checked_add(checked_mul(window - 1, a.dilation), 1);
  if (padding.rule() == Pad::same) set_same(a, reach);
  else set_valid(a, reach, padding, axis);
  MARTELLO_CHECK(a.out != 0, where, "a window of ", name, " ", window, " (", reach, " with dilation ", a.dilation,
                 ") fits nowhere in an image of ", name, " ", in, " with padding ", padding,
                 ". Use a smaller window, more padding or larger images.");
  return a;
}

}  // namespace internal
}  // namespace martello
