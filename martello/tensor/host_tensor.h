#pragma once
#include <martello/tensor/buffer.h>
#include <martello/tensor/dtype.h>
#include <martello/tensor/shape.h>

#include <initializer_list>
#include <span>
#include <string>
#include <vector>

namespace martello {

// Bytes with dtype and shape. Copies share the bytes; mutable_data() makes them private first (copy on write).
class HostTensor {
 public:
  HostTensor() : HostTensor(Shape(0), f32) {}
  HostTensor(Shape shape, DType dtype);  // zeros; refuses unknown and negative dimensions
  template <Element T>
  HostTensor(T value) : HostTensor(Shape(), dtype_of<T>) {
    mutable_data<T>()[0] = value;
  }
  template <Element T>
  static HostTensor from(std::span<const T> values, Shape shape) {
    HostTensor t(std::move(shape), dtype_of<T>);
    t.fill_from(values.data(), static_cast<int64_t>(values.size()));
    return t;
  }
  // HostTensor::of<float>({1, 2, 3, 4}, {2, 2}); without a shape: a vector.
  template <Element T>
  static HostTensor of(std::initializer_list<T> values, Shape shape) {
    return from(std::span<const T>(values.begin(), values.size()), std::move(shape));
  }
  template <Element T>
  static HostTensor of(std::initializer_list<T> values) {
    return of(values, Shape(static_cast<int64_t>(values.size())));
  }
  static HostTensor full(Shape shape, DType dtype, double value);
  // A tensor over bytes that exist; `buffer` must hold them.
  static HostTensor wrap(Buffer buffer, Shape shape, DType dtype);

  const Shape& shape() const { return shape_; }
  DType dtype() const { return dtype_; }
  int64_t num_elements() const { return count_; }
  int64_t num_bytes() const { return count_ * size_of(dtype_); }

  // Refuses another T than the dtype's.
  template <Element T>
  std::span<const T> data() const {
    check_dtype(dtype_of<T>);
    return {reinterpret_cast<const T*>(raw()), static_cast<size_t>(count_)};
  }
  template <Element T>
  std::span<T> mutable_data() {
    check_dtype(dtype_of<T>);
    return {reinterpret_cast<T*>(mutable_raw()), static_cast<size_t>(count_)};
  }
  // The only element.
  template <Element T>
  T scalar() const {
    check_scalar();
    return data<T>()[0];
  }
  // Any dtype, converted.
  double at(int64_t i) const;
  void set(int64_t i, double value);

  const std::byte* raw() const { return buffer_.data(); }
  std::byte* mutable_raw();
  bool is_shared() const { return !buffer_.unique(); }

  HostTensor cast(DType dtype) const;
  HostTensor reshaped(Shape shape) const;         // shares the bytes
  bool same_bits(const HostTensor& other) const;  // dtype, shape and bytes
  std::string str() const;                        // "f32[2, 2] 1 2 3 4", long ones shortened

 private:
  void check_dtype(DType asked) const;
  void check_scalar() const;
  void fill_from(const void* values, int64_t count);

  Buffer buffer_;
  Shape shape_;
  int64_t count_ = 0;
  DType dtype_ = f32;
};

using HostTensors = std::vector<HostTensor>;

}  // namespace martello
