#include <martello/passes/plan_memory.h>

#include <martello/base/checked.h>
#include <martello/base/error.h>
#include <martello/tensor/buffer.h>

#include <algorithm>
#include <functional>
#include <numeric>

namespace martello {
namespace {

using Order = std::function<bool(const Lifetime&, const Lifetime&)>;

int64_t aligned(int64_t bytes) { return align_up(bytes, Buffer::kAlignment); }
bool overlap(const Lifetime& a, const Lifetime& b) { return a.first <= b.last && b.first <= a.last; }

// Blocks already placed, sorted by offset.
class Placement {
 public:
  explicit Placement(const std::vector<Lifetime>& blocks) : blocks_(blocks), offsets_(blocks.size(), 0) {}

  bool is_free(size_t block, int64_t offset) const {
    const int64_t end = offset + aligned(blocks_[block].bytes);
    return std::none_of(placed_.begin(), placed_.end(), [&](size_t other) {
      return overlap(blocks_[block], blocks_[other]) && offsets_[other] < end &&
             offset < offsets_[other] + aligned(blocks_[other].bytes);
    });
  }

  // The smallest gap that fits among the blocks alive at the same time; else above them.
  int64_t best_gap(size_t block) const {
    const int64_t needed = aligned(blocks_[block].bytes);
    int64_t best = -1, best_size = 0, end_so_far = 0;
    for (size_t other : placed_) {
      if (!overlap(blocks_[block], blocks_[other])) continue;
      const int64_t gap = offsets_[other] - end_so_far;
      if (gap >= needed && (best < 0 || gap < best_size)) {
        best = end_so_far;
        best_size = gap;
      }
      end_so_far = std::max(end_so_far, offsets_[other] + aligned(blocks_[other].bytes));
    }
    return best >= 0 ? best : end_so_far;
  }

  void place(size_t block, int64_t offset) {
    offsets_[block] = offset;
    end_ = std::max(end_, checked_add(offset, aligned(blocks_[block].bytes)));
    const auto at = std::upper_bound(placed_.begin(), placed_.end(), offset,
                                     [&](int64_t o, size_t other) { return o < offsets_[other]; });
    placed_.insert(at, block);
  }

  const std::vector<int64_t>& offsets() const { return offsets_; }
  int64_t end() const { return end_; }

 private:
  const std::vector<Lifetime>& blocks_;
  std::vector<int64_t> offsets_;
  std::vector<size_t> placed_;
  int64_t end_ = 0;
};

MemoryLayout layout_in(const std::vector<Lifetime>& blocks, const Order& before) {
  MemoryLayout layout;
  Placement placement(blocks);
  layout.is_pin_kept.assign(blocks.size(), false);
  std::vector<size_t> order;
  for (size_t i = 0; i < blocks.size(); ++i) {
    const bool can_pin = blocks[i].pinned_offset >= 0 && placement.is_free(i, blocks[i].pinned_offset);
    if (can_pin) placement.place(i, blocks[i].pinned_offset);
    layout.is_pin_kept[i] = can_pin;
    if (!can_pin && blocks[i].bytes > 0) order.push_back(i);
  }
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return before(blocks[a], blocks[b]); });
  for (size_t block : order) placement.place(block, placement.best_gap(block));
  layout.offsets = placement.offsets();
  layout.arena_bytes = placement.end();
  return layout;
}

void find_largest_live_set(const std::vector<Lifetime>& blocks, int steps, MemoryLayout& layout) {
  std::vector<int64_t> change(static_cast<size_t>(steps) + 2, 0);
  for (const Lifetime& b : blocks) {
    change[static_cast<size_t>(b.first)] += aligned(b.bytes);
    change[static_cast<size_t>(b.last) + 1] -= aligned(b.bytes);
  }
  int64_t live = 0;
  for (int step = 0; step <= steps; ++step) {
    live += change[static_cast<size_t>(step)];
    if (live > layout.largest_live_bytes) {
      layout.largest_live_bytes = live;
      layout.step_at_peak = step;
    }
  }
}

}  // namespace

MemoryLayout plan_memory(const std::vector<Lifetime>& blocks, int steps) {
  for (const Lifetime& b : blocks)
    MARTELLO_ASSERT(0 <= b.first && b.first <= b.last && b.last <= steps && b.bytes >= 0, "a lifetime is out of order");
  const auto length = [](const Lifetime& b) { return b.last - b.first; };
  const Order orders[] = {
      [](const Lifetime& a, const Lifetime& b) { return a.bytes > b.bytes; },
      [&](const Lifetime& a, const Lifetime& b) {
        return length(a) != length(b) ? length(a) > length(b) : a.bytes > b.bytes;
      },
      [](const Lifetime& a, const Lifetime& b) { return a.first < b.first; },
      [](const Lifetime& a, const Lifetime& b) { return a.last > b.last; },
  };
  MemoryLayout bound;
  find_largest_live_set(blocks, steps, bound);
  MemoryLayout best;
  for (const Order& order : orders) {
    MemoryLayout layout = layout_in(blocks, order);
    if (best.offsets.empty() || layout.arena_bytes < best.arena_bytes) best = std::move(layout);
    if (best.arena_bytes == bound.largest_live_bytes) break;
  }
  best.largest_live_bytes = bound.largest_live_bytes;
  best.step_at_peak = bound.step_at_peak;
  return best;
}

}  // namespace martello
