#pragma once
#include <martello/testing/op_test.h>

#include <vector>

// What the tests of fused recurrences share.
namespace martello::testing {

struct SequenceSizes {
  int64_t steps, rows, units;
};

inline HostTensor lengths_of(const SequenceSizes& s) { return integers({s.rows}, 0, s.steps + 1, i64); }

// None, one and several rows of 1, 3 and 17 units, with lengths and without.
inline std::vector<OpCase> sequence_rows(OpCase (*make)(const SequenceSizes&, bool has_lengths)) {
  std::vector<OpCase> list;
  for (const int64_t rows : {0, 1, 2, 5})
    for (const int64_t units : {1, 3, 17})
      for (const bool has_lengths : {false, true}) list.push_back(make({2, rows, units}, has_lengths));
  return list;
}

}  // namespace martello::testing
