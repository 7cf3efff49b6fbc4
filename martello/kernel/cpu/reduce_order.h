#pragma once
#include <stdint.h>

// Note [Order of sums]: a sum over x [outer, reduced, inner] has one order, whatever the threads, the instruction set
// and whether x is in memory or computed on the way:
//  - Rows (of `inner` elements) are merged by 2^k until they have as many elements as there are lanes (kLaneBytes); the
//    last merged row may be short.
//  - A block is kBlockRows merged rows; the last one takes what is left too, so that none is short. Within it they are
//    added one after the other, element by element; then the two halves of the merged row are added, again and again,
//    until one row is left.
//  - The blocks' rows are x of the next step, until there is one block.
// So fewer than 2 kBlockRows additions follow each other before numbers of like size meet. Several separate groups of
// reduced axes are one reduction after the other, the innermost first. Products, maxima and minima go the same way.
namespace martello::cpu {

inline constexpr int64_t kLaneBytes = 256, kBlockRows = 32;
inline constexpr int64_t kMostColumnBytes = 16384;  // of a wide row that one item covers
inline constexpr int64_t kReduceTileBytes = 32768;  // holds any block of narrow rows

}  // namespace martello::cpu
