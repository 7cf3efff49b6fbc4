#pragma once
#include <cstdint>
#include <vector>

namespace martello {

// A block of scratch memory between two steps of a program, both included.
struct Lifetime {
  int64_t bytes = 0;
  int first = 0;
  int last = 0;
  int64_t pinned_offset = -1;  // asked for: place it there, when free
};

struct MemoryLayout {
  std::vector<int64_t> offsets;    // one per lifetime, multiples of Buffer::kAlignment
  std::vector<bool> is_pin_kept;   // false: the pin was taken, the block lies elsewhere
  int64_t arena_bytes = 0;         // end of the highest block
  int64_t largest_live_bytes = 0;  // no layout can need less
  int step_at_peak = 0;
};

// Offsets such that blocks that live at the same step never overlap. Tries several orders of placement and keeps the
// smallest arena.
MemoryLayout plan_memory(const std::vector<Lifetime>& blocks, int steps);

}  // namespace martello
