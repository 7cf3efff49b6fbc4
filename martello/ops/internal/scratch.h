#pragma once
#include <martello/base/checked.h>

#include <cstddef>
#include <cstdint>

namespace martello::internal {

// Hands out pieces of a kernel's scratch. Without memory it only counts: the plan runs the same calls as the run does.
class Scratch {
 public:
  explicit Scratch(std::byte* base = nullptr) : base_(base) {}
  template <class T>
  T* take(int64_t count) {
    const int64_t at = bytes_;
    bytes_ = align_up(checked_add(at, checked_mul(count, static_cast<int64_t>(sizeof(T)))), 64);
    return base_ ? reinterpret_cast<T*>(base_ + at) : nullptr;
  }
  int64_t bytes() const { return bytes_; }

 private:
  std::byte* base_;
  int64_t bytes_ = 0;
};

}  // namespace martello::internal
