#pragma once
#include <array>
#include <cstdint>

namespace martello::data::internal {

// A permutation of 0 ... count - 1 chosen by a key, computed for one index at a time and without memory: a Feistel
// network over the next power of two, walked until it lands inside.
class Permutation {
 public:
  Permutation(int64_t count, uint64_t key);
  int64_t operator()(int64_t index) const;

 private:
  static constexpr int kRounds = 8;
  uint64_t count_;
  int right_bits_ = 0;
  uint64_t left_mask_ = 0, right_mask_ = 0;
  std::array<uint64_t, kRounds> keys_ = {};
};

}  // namespace martello::data::internal
