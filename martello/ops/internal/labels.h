#pragma once
#include <martello/base/error.h>
#include <martello/graph/kernel.h>

#include <string>

namespace martello::internal {

// Labels or indices of a run, i32 or i64, each known to lie in [0, limit).
class Labels {
 public:
  // Throws InvalidArgument with the first that does not. Made by the thread that runs the kernel.
  Labels(const std::string& where, const RunTensor& labels, DType dtype, int64_t limit, const char* what = "label",
         const char* of = "classes")
      : data_(labels.data), is_i32_(dtype == i32) {
    const int64_t bad = is_i32_ ? find_bad<int32_t>(labels.count, limit) : find_bad<int64_t>(labels.count, limit);
    MARTELLO_CHECK(bad < 0, where, what, "[", bad, "] is ", (*this)[bad], " but there are ", limit, " ", of,
                   ". It must lie in [0, ", limit, ").");
  }
  int64_t operator[](int64_t i) const {
    return is_i32_ ? static_cast<const int32_t*>(data_)[i] : static_cast<const int64_t*>(data_)[i];
  }

 private:
  template <class I>
  int64_t find_bad(int64_t count, int64_t limit) const {
    const I* label = static_cast<const I*>(data_);
    const auto is_bad = [=](I v) { return static_cast<uint64_t>(v) >= static_cast<uint64_t>(limit); };
    bool has_bad = false;
    for (int64_t i = 0; i < count; ++i) has_bad |= is_bad(label[i]);
    if (!has_bad) [[likely]]
      return -1;
    int64_t i = 0;
    while (!is_bad(label[i])) ++i;
    return i;
  }

  const void* data_;
  bool is_i32_;
};

}  // namespace martello::internal
