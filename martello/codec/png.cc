#include <martello/base/error.h>
#include <martello/codec/png.h>

#include <png.h>

namespace martello {
namespace {

png_uint_32 format_of(int64_t channels) {
  return channels == 1 ? PNG_FORMAT_GRAY : channels == 3 ? PNG_FORMAT_RGB : PNG_FORMAT_RGBA;
}

}  // namespace

std::string encode_png(const HostTensor& image) {
  constexpr int64_t kMostPixels = 1 << 20;  // a side; libpng's own limit is a million
  const Shape& s = image.shape();
  MARTELLO_CHECK(image.dtype() == u8 && s.rank() == 3 && (s[2] == 1 || s[2] == 3 || s[2] == 4),
                 "[encode_png] takes u8[H, W, 1 | 3 | 4], not ", image.dtype(), s, ".");
  MARTELLO_CHECK(s[0] > 0 && s[1] > 0 && s[0] < kMostPixels && s[1] < kMostPixels, "[encode_png] an image of ", s[1],
                 " x ", s[0], " pixels cannot be written: PNG holds 1 to ", kMostPixels - 1, " a side.");
  png_image png = {};
  png.version = PNG_IMAGE_VERSION;
  png.width = static_cast<png_uint_32>(s[1]);
  png.height = static_cast<png_uint_32>(s[0]);
  png.format = format_of(s[2]);
  png_alloc_size_t bytes = 0;
  std::string file;
  bool is_done = png_image_write_to_memory(&png, nullptr, &bytes, 0, image.raw(), 0, nullptr);
  if (is_done) {
    file.resize(bytes);
    is_done = png_image_write_to_memory(&png, file.data(), &bytes, 0, image.raw(), 0, nullptr);
  }
  MARTELLO_ASSERT(is_done, "[encode_png] libpng refused an image ", s, ": ", static_cast<const char*>(png.message));
  file.resize(bytes);
  return file;
}

}  // namespace martello
