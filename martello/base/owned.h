#pragma once
#include <utility>

namespace martello {

// A std::unique_ptr for members of public headers: that one's deleter, kept in a tuple, costs every program that
// includes the header several milliseconds to compile for each type.
template <class T>
class Owned {
 public:
  Owned() = default;
  explicit Owned(T* value) : value_(value) {}
  Owned(Owned&& other) noexcept : value_(std::exchange(other.value_, nullptr)) {}
  Owned& operator=(Owned&& other) noexcept {
    delete std::exchange(value_, std::exchange(other.value_, nullptr));
    return *this;
  }
  ~Owned() {
    static_assert(
        requires { sizeof(T); }, "the owner's destructor is defined where T is complete");
    delete value_;
  }

  T* get() const { return value_; }
  T& operator*() const { return *value_; }
  T* operator->() const { return value_; }
  explicit operator bool() const { return value_ != nullptr; }

 private:
  T* value_ = nullptr;
};

template <class T, class... Args>
Owned<T> make_owned(Args&&... args) {
  return Owned<T>(new T(std::forward<Args>(args)...));
}

}  // namespace martello
