#pragma once
#include <martello/graph/op_def.h>

#include <concepts>
#include <optional>
#include <vector>

namespace martello {

// A list of axes as an attribute: `{.axes = 0}`, `{.axes = {0, -1}}`. Negative ones count from the end; none means all.
class Axes {
 public:
  Axes() = default;
  template <std::integral... I>
  requires(sizeof...(I) > 0) Axes(I... i) : values_{static_cast<int>(i)...} {}
  explicit Axes(std::vector<int> values) : values_(std::move(values)) {}

  const std::vector<int>& values() const { return values_; }
  std::vector<int>& values() { return values_; }
  bool empty() const { return values_.empty(); }
  bool operator==(const Axes&) const = default;

 private:
  std::vector<int> values_;
};

namespace internal {
// One flag per axis of input i: is it meant? Refuses an axis out of range and one named twice.
std::vector<bool> check_axes(const ShapeContext& c, size_t i, const Axes& axes);
// The same for axes that a shape function has accepted before.
std::vector<bool> marked_axes(const Axes& axes, int rank);
// `shape` without the marked axes, or with 1 in their place.
Shape reduced_shape(const Shape& shape, const std::vector<bool>& marked, bool keep_dims);
// The marked axes as one range, when no other lies between them.
struct AxisRange {
  int first = 0, last = 0;
};
std::optional<AxisRange> find_axis_range(const std::vector<bool>& marked);
}  // namespace internal

}  // namespace martello
