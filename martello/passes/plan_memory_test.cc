#include <martello/passes/plan_memory.h>

#include <martello/tensor/buffer.h>

#include <gtest/gtest.h>

#include <chrono>
#include <random>

namespace martello {
namespace {

constexpr int64_t kAlign = Buffer::kAlignment;

bool share_a_step(const Lifetime& a, const Lifetime& b) { return a.first <= b.last && b.first <= a.last; }

void expect_valid(const std::vector<Lifetime>& blocks, const MemoryLayout& layout) {
  ASSERT_EQ(layout.offsets.size(), blocks.size());
  int64_t end = 0;
  for (size_t i = 0; i < blocks.size(); ++i) {
    EXPECT_EQ(layout.offsets[i] % kAlign, 0);
    EXPECT_GE(layout.offsets[i], 0);
    end = std::max(end, layout.offsets[i] + blocks[i].bytes);
    for (size_t j = 0; j < i; ++j) {
      const bool apart = layout.offsets[i] + blocks[i].bytes <= layout.offsets[j] ||
                         layout.offsets[j] + blocks[j].bytes <= layout.offsets[i];
      const bool is_empty = blocks[i].bytes == 0 || blocks[j].bytes == 0;
      ASSERT_TRUE(apart || is_empty || !share_a_step(blocks[i], blocks[j])) << i << " and " << j;
    }
  }
  EXPECT_LE(end, layout.arena_bytes);
  EXPECT_GE(layout.arena_bytes, layout.largest_live_bytes);
}

int64_t live_at(const std::vector<Lifetime>& blocks, int step) {
  int64_t bytes = 0;
  for (const Lifetime& b : blocks)
    if (b.first <= step && step <= b.last) bytes += (b.bytes + kAlign - 1) / kAlign * kAlign;
  return bytes;
}

TEST(plan_memory, never_lets_living_blocks_overlap) {
  std::mt19937 random(1);
  const auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  for (int round = 0; round < 200; ++round) {
    const int steps = 1 + below(40);
    std::vector<Lifetime> blocks;
    for (int i = below(80); i >= 0; --i) {
      const int first = below(steps), last = first + below(steps - first);
      blocks.push_back(
          {below(4) == 0 ? below(100) : below(100000), first, last, below(6) == 0 ? below(50) * kAlign : -1});
    }
    const MemoryLayout layout = plan_memory(blocks, steps);
    expect_valid(blocks, layout);
    int64_t largest = 0;
    for (int s = 0; s <= steps; ++s) largest = std::max(largest, live_at(blocks, s));
    EXPECT_EQ(layout.largest_live_bytes, largest);
    EXPECT_EQ(live_at(blocks, layout.step_at_peak), largest);
    for (size_t i = 0; i < blocks.size(); ++i)
      if (layout.is_pin_kept[i]) {
        EXPECT_EQ(layout.offsets[i], blocks[i].pinned_offset);
      }
  }
}

TEST(plan_memory, keeps_pins_that_are_free) {
  const std::vector<Lifetime> blocks = {{1000, 0, 5, 4096}, {1000, 3, 8, 4096}, {1000, 6, 9, 4096}, {5000, 0, 9, -1}};
  const MemoryLayout layout = plan_memory(blocks, 10);
  expect_valid(blocks, layout);
  EXPECT_TRUE(layout.is_pin_kept[0]);
  EXPECT_FALSE(layout.is_pin_kept[1]);
  EXPECT_TRUE(layout.is_pin_kept[2]);
}

TEST(plan_memory, reuses_two_blocks_along_a_chain) {
  std::vector<Lifetime> blocks;
  for (int i = 0; i < 100; ++i) blocks.push_back({10000, i, i + 1});
  const MemoryLayout layout = plan_memory(blocks, 101);
  expect_valid(blocks, layout);
  EXPECT_EQ(layout.arena_bytes, layout.largest_live_bytes);
}

// Activations live until the backward step of their layer, gradients for a step, weight gradients to the end.
std::vector<Lifetime> mlp(const std::vector<int64_t>& widths, int64_t batch) {
  const int layers = static_cast<int>(widths.size()) - 1, steps = 3 * layers;
  std::vector<Lifetime> blocks;
  for (int i = 0; i < layers; ++i) {
    const auto at = static_cast<size_t>(i);
    const int backward = layers + 2 * (layers - 1 - i);
    blocks.push_back({4 * batch * widths[at + 1], i, backward});
    blocks.push_back({4 * batch * widths[at], backward, std::min(steps, backward + 2)});
    blocks.push_back({4 * widths[at] * widths[at + 1], backward + 1, steps});
  }
  return blocks;
}

TEST(plan_memory, stays_near_the_largest_live_set_of_a_training_step) {
  std::mt19937 random(2);
  for (int round = 0; round < 50; ++round) {
    std::vector<int64_t> widths;
    for (int i = 0; i < 3 + round % 20; ++i) widths.push_back(16 + static_cast<int64_t>(random() % 2048));
    const auto blocks = mlp(widths, 64);
    const int steps = 3 * (static_cast<int>(widths.size()) - 1);
    const MemoryLayout layout = plan_memory(blocks, steps);
    expect_valid(blocks, layout);
    EXPECT_LE(static_cast<double>(layout.arena_bytes), 1.10 * static_cast<double>(layout.largest_live_bytes));
  }
}

TEST(plan_memory, needs_nothing_for_nothing) {
  EXPECT_EQ(plan_memory({}, 0).arena_bytes, 0);
  EXPECT_EQ(plan_memory({{0, 0, 3}, {0, 1, 2}}, 3).arena_bytes, 0);
}

TEST(plan_memory, is_fast_enough_for_large_plans) {
  std::mt19937 random(3);
  std::vector<Lifetime> blocks;
  for (int i = 0; i < 10000; ++i)
    blocks.push_back(
        {static_cast<int64_t>(64 + random() % 65536), i, std::min(10000, i + 1 + static_cast<int>(random() % 8))});
  const auto start = std::chrono::steady_clock::now();
  const MemoryLayout layout = plan_memory(blocks, 10000);
  const double ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  std::printf("plan_memory: 10000 blocks in %.1f ms, %.3f of the bound\n", ms,
              static_cast<double>(layout.arena_bytes) / static_cast<double>(layout.largest_live_bytes));
  EXPECT_LT(ms, 10000);
}

}  // namespace
}  // namespace martello
