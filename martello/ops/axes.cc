#include <martello/ops/axes.h>

#include <algorithm>

namespace martello::internal {

std::vector<bool> marked_axes(const Axes& axes, int rank) {
  std::vector<bool> marked(static_cast<size_t>(rank), axes.empty());
  for (int axis : axes.values()) marked[static_cast<size_t>(normalized_axis(axis, rank))] = true;
  return marked;
}

std::vector<bool> check_axes(const ShapeContext& c, size_t i, const Axes& axes) {
  const int rank = c.in[i].shape.rank();
  std::vector<bool> seen(static_cast<size_t>(rank), false);
  for (int axis : axes.values()) {
    const size_t a = static_cast<size_t>(c.check_axis(i, axis));
    MARTELLO_CHECK(!seen[a], c.where(), "axis ", axis, " names dimension ", a, " of ", c.in[i].shape,
                   " a second time. Name each axis once.");
    seen[a] = true;
  }
  return marked_axes(axes, rank);
}

Shape reduced_shape(const Shape& shape, const std::vector<bool>& marked, bool keep_dims) {
  Shape out;
  for (size_t i = 0; i < marked.size(); ++i) {
    if (!marked[i]) {
      out.push_back(shape.symbolic()[i]);
    } else if (keep_dims) {
      out.push_back(1);
    }
  }
  return out;
}

std::optional<AxisRange> find_axis_range(const std::vector<bool>& marked) {
  const auto first = std::find(marked.begin(), marked.end(), true);
  const auto last = std::find(first, marked.end(), false);
  if (std::find(last, marked.end(), true) != marked.end()) return std::nullopt;
  return AxisRange{static_cast<int>(first - marked.begin()), static_cast<int>(last - marked.begin())};
}

}  // namespace martello::internal
