#include <martello/base/error.h>
#include <martello/loop/internal/images.h>

#include <algorithm>
#include <cmath>

namespace martello::internal {
namespace {

bool is_channels(int64_t n) { return n == 1 || n == 3 || n == 4; }

Shape nhwc(std::string_view name, const Shape& s) {
  const bool is_taken = s.rank() == 2 || s.rank() == 3 || (s.rank() == 4 && is_channels(s[3]));
  MARTELLO_CHECK(is_taken, "[monitors] image '", name, "' is ", s,
                 "; images are [H, W], [H, W, 1 | 3 | 4], [N, H, W] or [N, H, W, 1 | 3 | 4].");
  if (s.rank() == 4) return s;
  if (s.rank() == 2) return Shape(1, s[0], s[1], 1);
  return is_channels(s[2]) ? Shape(1, s[0], s[1], s[2]) : Shape(s[0], s[1], s[2], 1);
}

uint8_t clipped(double value) {
  if (std::isnan(value)) return 0;
  return static_cast<uint8_t>(std::lround(std::clamp(value, 0.0, 255.0)));
}

}  // namespace

HostTensor as_images(std::string_view name, const HostTensor& image) {
  const Shape shape = nhwc(name, image.shape());
  MARTELLO_CHECK(image.num_elements() > 0, "[monitors] image '", name, "' is ", image.shape(), ": it has no pixels.");
  if (image.dtype() == u8) return image.reshaped(shape);
  HostTensor images(shape, u8);
  const auto pixels = images.mutable_data<uint8_t>();
  for (size_t i = 0; i < pixels.size(); ++i) pixels[i] = clipped(image.at(static_cast<int64_t>(i)));
  return images;
}

}  // namespace martello::internal
