#pragma once
#include <martello/kernel/cpu/isa_levels.h>

#include <stdint.h>

// The loops of attention_isa.cc. Included by ISA sources too, hence C headers only.
namespace martello::cpu {

// Scores of some queries with some keys, and how they become exponents.
template <class T>
struct AttentionScores {
  T* s;
  int64_t row;  // distance of rows, of `s` and of what goes with it
  int64_t rows, keys;
  T scale;
  bool is_causal;
  int64_t diagonal;  // causal: row r sees its first diagonal + r keys
  const T* added;    // a mask to be added, or null
  const bool* kept;  // a mask of what is seen, or null
  int64_t mask_row;  // distance of its rows
};

template <class T>
struct AttentionLoops {
  // One more block of keys of an online softmax: s becomes exp(s - max), `max` and `sum` are brought up to date, and y,
  // when there were blocks before, is scaled to the new maximum.
  void (*add_block)(const AttentionScores<T>&, T* max, T* sum, T* y, int64_t columns, bool is_first);
  // y / sum, and the logarithm of all that was summed; rows that see nothing give 0 and +inf.
  void (*finish)(const T* max, const T* sum, T* y, T* lse, int64_t rows, int64_t columns);
  // s becomes p = exp(s - lse), dp becomes p (dp - dot) scale.
  void (*gradient)(const AttentionScores<T>&, const T* lse, const T* dot, T* dp);
  // One product of rows a and b each.
  void (*dots)(const T* a, const T* b, int64_t rows, int64_t columns, T* dot);
};

MARTELLO_PER_ISA(extern const AttentionLoops<float> attention_loops_f32;
                 extern const AttentionLoops<double> attention_loops_f64;)

// Those of this machine.
template <class T>
const AttentionLoops<T>& attention_loops();

}  // namespace martello::cpu
