#pragma once
#include <martello/ops/internal/gemm_loops.h>

namespace martello::internal {

// What is read or written after a product, which asks for it along its sums: the lines lie too far apart for the
// machine to guess, the product has long pushed them out of its caches, and asked for at once they hold up what it
// reads. The first `count` elements of rows `row` apart; parts beyond the room are left out.
template <class T>
void add_ahead(cpu::GemmAhead& ahead, const T* first, int64_t rows, int64_t row, int64_t count, bool writes = false) {
  const auto bytes = [](int64_t elements) { return static_cast<uintptr_t>(elements) * sizeof(T); };
  if (rows == 0 || count == 0 || ahead.count == cpu::GemmAhead::kMost) return;
  ahead.parts[ahead.count++] = {reinterpret_cast<uintptr_t>(first), bytes(row), bytes(count), rows, writes};
}

}  // namespace martello::internal
