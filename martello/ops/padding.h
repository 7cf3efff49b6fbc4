#pragma once
#include <martello/graph/op_def.h>

#include <string>
#include <vector>

namespace martello {

// Of a window that slides over an image: `same` gives ceil(in / stride) outputs, `valid` only those inside the image.
enum class Pad { same, valid };
std::vector<std::string> enum_names(Pad);

// A number along the height and one along the width. In attributes: f("stride_h", self.stride.h), the same for w.
struct Size2 {
  int h = 1, w = 1;
  constexpr Size2(int size) : h(size), w(size) {}
  constexpr Size2(int height, int width) : h(height), w(width) {}
  constexpr int operator[](int axis) const { return axis == 0 ? h : w; }
  bool operator==(const Size2&) const = default;
  std::string str() const;  // "[3, 5]"
};

// Zeros around an image: as many as a rule says, or these. In attributes: Padding::fields(self.padding, f).
class Padding {
 public:
  constexpr Padding(Pad rule) : rule_(rule) {}
  constexpr Padding(int top, int bottom, int left, int right)
      : rule_(Pad::valid), top_(top), bottom_(bottom), left_(left), right_(right) {}

  Pad rule() const { return rule_; }
  // Asked for along axis 0 (height) or 1 (width), beside what the rule adds.
  int before(int axis) const { return axis == 0 ? top_ : left_; }
  int after(int axis) const { return axis == 0 ? bottom_ : right_; }
  bool operator==(const Padding&) const = default;
  std::string str() const;  // "same", "valid", "[1, 1, 0, 0]"

  static void fields(auto& self, auto&& f) {
    f("padding", self.rule_);
    f("pad_top", self.top_);
    f("pad_bottom", self.bottom_);
    f("pad_left", self.left_);
    f("pad_right", self.right_);
  }

 private:
  Pad rule_;
  int top_ = 0, bottom_ = 0, left_ = 0, right_ = 0;
};

namespace internal {

// A window along one axis, 0 for the height and 1 for the width. Sizes may be unknown, or symbols.
struct WindowAxis {
  int64_t in = kUnknown;
  int64_t window = kUnknown;
  int64_t stride = 1, dilation = 1;
  int64_t out = kUnknown;
  int64_t before = 0, after = 0;  // padding; 0 while sizes it depends on are unknown
};
// Output and padding follow from the rest; same: the odd pixel of padding comes after. Throws, with `where` first, for
// strides, dilations and paddings that make no sense, and for a window that fits nowhere.
WindowAxis window_axis(const std::string& where, int axis, int64_t in, int64_t window, Size2 stride, Size2 dilation,
                       const Padding& padding);

}  // namespace internal
}  // namespace martello
