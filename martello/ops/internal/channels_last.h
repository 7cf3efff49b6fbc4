#pragma once
#include <martello/graph/op_def.h>
#include <martello/ops/data_format.h>

#include <array>

// Attributes of nodes on images [N, C, H, W] for the same images as [N, H, W, C]: OpDef::channels_last.
namespace martello::internal {

// Dimension i of what comes out is this one of what goes in.
inline constexpr std::array<int, 4> kLastFromFirst = {0, 2, 3, 1};
inline constexpr std::array<int, 4> kFirstFromLast = {0, 3, 1, 2};

// Where the dimension lies afterwards. `axis` may count from the end.
inline int axis_with_channels_last(int axis) { return kFirstFromLast[static_cast<size_t>(axis < 0 ? axis + 4 : axis)]; }

// One number per dimension.
template <class T>
std::vector<T> with_channels_last(const std::vector<T>& numbers) {
  return {numbers[0], numbers[2], numbers[3], numbers[1]};
}
inline Shape with_channels_last(const Shape& s) { return {s[0], s[2], s[3], s[1]}; }

// For ops whose attributes A say in `data_format` how their first input and output lie.
template <class A>
std::optional<ChannelsLast> images_with_channels_last(std::span<const TensorSpec> in, std::span<const TensorSpec>,
                                                      const Attrs& attrs) {
  A a = attrs.get<A>();
  if (a.data_format == DataFormat::nhwc || in[0].shape.rank() != 4) return std::nullopt;
  a.data_format = DataFormat::nhwc;
  return ChannelsLast{.attrs = Attrs(a), .inputs = {0}, .outputs = {0}};
}
// The same with a gradient as another input.
template <class A, int dy>
std::optional<ChannelsLast> gradients_with_channels_last(std::span<const TensorSpec> in,
                                                         std::span<const TensorSpec> out, const Attrs& attrs) {
  auto last = images_with_channels_last<A>(in, out, attrs);
  if (last) last->inputs.push_back(dy);
  return last;
}

}  // namespace martello::internal
