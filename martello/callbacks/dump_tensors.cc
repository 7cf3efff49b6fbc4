#include <martello/callbacks/dump_tensors.h>

#include <martello/base/error.h>
#include <martello/callbacks/internal/files.h>
#include <martello/codec/npz.h>
#include <martello/codec/png.h>
#include <martello/loop/internal/images.h>
#include <martello/loop/monitors.h>

#include <algorithm>
#include <cstdio>
#include <cstring>

namespace martello {

DumpTensors::DumpTensors(std::vector<std::string> names, SourceLine line) : ProcessTensors(std::move(names), line) {
  check_names();
}

void DumpTensors::setup_graph() {
  dir_ = internal::dir_for(name());
  ProcessTensors::setup_graph();
}

void DumpTensors::process(const HostTensors& values) {
  NamedTensors named;
  for (size_t i = 0; i < values.size(); ++i) named.emplace_back(names()[i], values[i]);
  internal::write_file(str(dir_, "/DumpTensor-", global_step(), ".npz"), encode_npz(named));
}

DumpTensorAsImage::DumpTensorAsImage(std::string tensor, DumpImageOptions options, SourceLine line)
    : tensor_name_(std::move(tensor)), options_(std::move(options)), line_(line) {}

void DumpTensorAsImage::setup_graph() {
  dir_ = internal::dir_for(name());
  tensor_ = context().get_tensor(tensor_name_, line_);
  if (options_.prefix.empty()) options_.prefix = tensor_.op().name();
}

namespace {

HostTensor scaled(const HostTensor& image, double scale) {
  HostTensor out = image.cast(f64);
  for (double& v : out.mutable_data<double>()) v *= scale;
  return out;
}

// Image i of [N, H, W, C].
HostTensor image_at(const HostTensor& images, int64_t i) {
  const Shape& s = images.shape();
  HostTensor image(Shape(s[1], s[2], s[3]), u8);
  std::memcpy(image.mutable_raw(), images.raw() + i * image.num_bytes(), static_cast<size_t>(image.num_bytes()));
  return image;
}

}  // namespace

void DumpTensorAsImage::trigger() {
  const HostTensor value = sess().eval(tensor_);
  const HostTensors images = options_.map_func ? options_.map_func(value) : HostTensors{value};
  size_t number = 0;
  for (const HostTensor& image : images) {
    const HostTensor pixels = internal::as_images(tensor_name_, scaled(image, options_.scale));
    for (int64_t i = 0; i < pixels.shape()[0]; ++i) write(image_at(pixels, i), number++);
  }
  for (size_t i = 0; i < images.size(); ++i)
    monitors().put_image(images.size() == 1 ? options_.prefix : str(options_.prefix, "/", i), images[i]);
}

void DumpTensorAsImage::write(const HostTensor& image, size_t number) const {
  char epoch[32];
  snprintf(epoch, sizeof epoch, "-ep%03lld", static_cast<long long>(epoch_num()));
  const std::string suffix = number > 0 ? str("-", number) : std::string();
  internal::write_file(str(dir_, "/", options_.prefix, epoch, suffix, ".png"), encode_png(image));
}

}  // namespace martello
