#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace martello::internal {

// Fields of a protocol buffer, appended to a string. Fields of value zero are written too: a reader cannot tell.
class WireWriter {
 public:
  explicit WireWriter(std::string& out) : out_(out) {}
  void integer(int field, int64_t value);
  void float32(int field, float value);
  void float64(int field, double value);
  void bytes(int field, std::string_view value);  // also strings and messages
  void packed(int field, std::span<const double> values);
  // A message: what `fill(WireWriter)` appends, with its length in front.
  template <class F>
  void message(int field, F&& fill) {
    const size_t start = begin_message(field);
    fill(*this);
    end_message(start);
  }

 private:
  void key(int field, int type);
  void varint(uint64_t value);
  size_t begin_message(int field);
  void end_message(size_t start);
  std::string& out_;
};

// The little-endian bytes of a number.
template <class T>
void append_raw(std::string& out, T value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

}  // namespace martello::internal
