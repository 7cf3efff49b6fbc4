#include <martello/base/checked.h>
#include <martello/base/error.h>
#include <martello/tensor/host_tensor.h>
#include <martello/tensor/internal/convert.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <limits>

namespace martello {
namespace {

constexpr int64_t kShownElements = 16;

using internal::converted;

std::string text_of(const Shape& shape, DType dtype) { return martello::str(dtype, shape); }

int64_t counted_elements(const Shape& shape, DType dtype) {
  for (int64_t d : shape.symbolic())
    MARTELLO_CHECK(d >= 0, "[host_tensor] ", text_of(shape, dtype), " has the dimension ", d,
                   ", unknown or negative. A HostTensor needs the size of each.");
  const int64_t count = shape.num_elements();
  MARTELLO_CHECK(count <= std::numeric_limits<int64_t>::max() / size_of(dtype), "[host_tensor] ", text_of(shape, dtype),
                 " has ", count, " elements; their bytes do not fit into 64 bits.");
  return count;
}

Buffer buffer_for(const Shape& shape, DType dtype, int64_t bytes) {
  try {
    return Buffer(bytes);
  } catch (const InvalidArgument&) {
    throw InvalidArgument(str("[host_tensor] cannot allocate ", bytes, " bytes for ", text_of(shape, dtype), "."));
  }
}

template <class T>
void append_element(std::string& out, T v) {
  out += ' ';
  if constexpr (std::is_same_v<T, double> || std::is_integral_v<T>) {
    out += str(v);
  } else {
    char text[32];
    out.append(text, std::to_chars(text, text + sizeof text, static_cast<float>(v)).ptr);
  }
}

// A bool that came from a file may be any byte, which C++ must not read as bool.
template <class T>
T load(const std::byte* bytes, int64_t i) {
  if constexpr (std::is_same_v<T, bool>) {
    return bytes[i] != std::byte{0};
  } else {
    return reinterpret_cast<const T*>(bytes)[i];
  }
}

void check_index(const HostTensor& tensor, int64_t i) {
  MARTELLO_CHECK(0 <= i && i < tensor.num_elements(), "[host_tensor] element ", i, " is out of range for ",
                 text_of(tensor.shape(), tensor.dtype()), ", which has ", tensor.num_elements(), ".");
}

template <class To, class From>
void convert_all(To* to, const std::byte* from, int64_t count) {
  for (int64_t i = 0; i < count; ++i) to[i] = converted<To>(load<From>(from, i));
}

}  // namespace

HostTensor::HostTensor(Shape shape, DType dtype)
    : shape_(std::move(shape)), count_(counted_elements(shape_, dtype)), dtype_(dtype) {
  buffer_ = buffer_for(shape_, dtype_, num_bytes());
  std::memset(buffer_.data(), 0, static_cast<size_t>(num_bytes()));
}

HostTensor HostTensor::full(Shape shape, DType dtype, double value) {
  HostTensor tensor(std::move(shape), dtype);
  visit_dtype(dtype, [&]<class T>(T) {
    for (T& element : tensor.mutable_data<T>()) element = converted<T>(value);
  });
  return tensor;
}

HostTensor HostTensor::wrap(Buffer buffer, Shape shape, DType dtype) {
  const int64_t count = counted_elements(shape, dtype), bytes = count * size_of(dtype);
  MARTELLO_CHECK(buffer.device().kind == DeviceKind::cpu, "[host_tensor] ", text_of(shape, dtype), " over a buffer on ",
                 buffer.device(), ". Copy it to a cpu device first.");
  MARTELLO_CHECK(buffer && buffer.size() >= bytes, "[host_tensor] ", text_of(shape, dtype), " needs ", bytes,
                 " bytes, the buffer has ", buffer.size(), ".");
  HostTensor tensor;
  tensor.buffer_ = std::move(buffer);
  tensor.shape_ = std::move(shape);
  tensor.count_ = count;
  tensor.dtype_ = dtype;
  return tensor;
}

double HostTensor::at(int64_t i) const {
  check_index(*this, i);
  return visit_dtype(dtype_, [&]<class T>(T) { return converted<double>(load<T>(raw(), i)); });
}

void HostTensor::set(int64_t i, double value) {
  check_index(*this, i);
  visit_dtype(dtype_, [&]<class T>(T) { mutable_data<T>()[static_cast<size_t>(i)] = converted<T>(value); });
}

std::byte* HostTensor::mutable_raw() {
  if (is_shared()) {
    Buffer copy = buffer_for(shape_, dtype_, num_bytes());
    std::memcpy(copy.data(), raw(), static_cast<size_t>(num_bytes()));
    buffer_ = std::move(copy);
  } else {
    // The count was read without ordering. Taking and dropping a reference waits for what other threads read through
    // copies that they have dropped.
    const Buffer reference = buffer_;
  }
  return buffer_.data();
}

HostTensor HostTensor::cast(DType dtype) const {
  if (dtype == dtype_) return *this;
  HostTensor result(shape_, dtype);
  visit_dtype(dtype, [&]<class To>(To) {
    To* to = result.mutable_data<To>().data();
    visit_dtype(dtype_, [&]<class From>(From) { convert_all<To, From>(to, raw(), count_); });
  });
  return result;
}

HostTensor HostTensor::reshaped(Shape shape) const {
  const int64_t count = counted_elements(shape, dtype_);
  MARTELLO_CHECK(count == count_, "[host_tensor] ", text_of(shape_, dtype_), " with ", count_,
                 " elements cannot be reshaped to ", shape, " with ", count, ".");
  HostTensor result = *this;
  result.shape_ = std::move(shape);
  return result;
}

bool HostTensor::same_bits(const HostTensor& other) const {
  return dtype_ == other.dtype_ && shape_ == other.shape_ &&
         std::memcmp(raw(), other.raw(), static_cast<size_t>(num_bytes())) == 0;
}

std::string HostTensor::str() const {
  std::string out = text_of(shape_, dtype_);
  visit_dtype(dtype_, [&]<class T>(T) {
    for (int64_t i = 0; i < std::min(count_, kShownElements); ++i) append_element(out, load<T>(raw(), i));
  });
  return count_ > kShownElements ? out + " ..." : out;
}

void HostTensor::check_dtype(DType asked) const {
  MARTELLO_CHECK(asked == dtype_, "[host_tensor] ", text_of(shape_, dtype_), " was asked for its data as ", asked,
                 ". Use cast() first, or at().");
}

void HostTensor::check_scalar() const {
  MARTELLO_CHECK(count_ == 1, "[host_tensor] scalar() of ", text_of(shape_, dtype_), ", which has ", count_,
                 " elements and not one.");
}

void HostTensor::fill_from(const void* values, int64_t count) {
  MARTELLO_CHECK(count == count_, "[host_tensor] ", count, " values for ", text_of(shape_, dtype_), ", which has ",
                 count_, " elements.");
  if (count > 0) std::memcpy(mutable_raw(), values, static_cast<size_t>(num_bytes()));
}

}  // namespace martello
