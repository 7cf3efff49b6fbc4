#pragma once
#include <martello/kernel/cpu/isa_levels.h>
#include <stdint.h>

// The loop of transpose_block_isa.cc. Included by ISA sources too, hence C headers only.
namespace martello::cpu {

// dst[r][c] = src[c][r]. Strides are in bytes: of src from column to column, of dst from row to row.
struct TransposeBlock {
  const char* src;
  int64_t src_stride;
  char* dst;
  int64_t dst_stride;
  int64_t rows, columns;
  bool streaming;  // past the caches, where the block is made of whole cache lines
};
using TransposeLoop = void (*)(const TransposeBlock& block);

// For elements of 1, 2, 4 or 8 bytes.
MARTELLO_PER_ISA(TransposeLoop transpose_loop(int64_t element_bytes);)

}  // namespace martello::cpu
