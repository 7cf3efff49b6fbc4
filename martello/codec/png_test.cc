#include <martello/base/internal/test_text.h>
#include <martello/codec/png.h>

#include <png.h>

namespace martello {
namespace {

using testing::error_of;

HostTensor ramp(Shape shape) {
  HostTensor image(shape, u8);
  for (int64_t i = 0; i < image.num_elements(); ++i) image.set(i, static_cast<double>(i * 37 % 256));
  return image;
}

// By libpng's reader, in the format that the file has.
HostTensor decoded(const std::string& file) {
  png_image png = {};
  png.version = PNG_IMAGE_VERSION;
  EXPECT_TRUE(png_image_begin_read_from_memory(&png, file.data(), file.size())) << png.message;
  HostTensor image(Shape(png.height, png.width, PNG_IMAGE_SAMPLE_CHANNELS(png.format)), u8);
  EXPECT_TRUE(png_image_finish_read(&png, nullptr, image.mutable_raw(), 0, nullptr)) << png.message;
  return image;
}

TEST(png, grey_rgb_and_rgba_read_back) {
  for (int64_t channels : {1, 3, 4}) {
    const HostTensor image = ramp(Shape(5, 7, channels));
    EXPECT_TRUE(decoded(encode_png(image)).same_bits(image)) << channels;
  }
}

TEST(png, refuses_other_images_with_their_shape) {
  EXPECT_CONTAINS(error_of([] { encode_png(HostTensor(Shape(5, 7, 2), u8)); }), "not u8[5, 7, 2]");
  EXPECT_CONTAINS(error_of([] { encode_png(HostTensor(Shape(5, 7, 3), f32)); }), "not f32[5, 7, 3]");
  EXPECT_CONTAINS(error_of([] { encode_png(HostTensor(Shape(0, 7, 3), u8)); }), "7 x 0 pixels");
}

}  // namespace
}  // namespace martello
