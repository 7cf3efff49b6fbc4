#pragma once
#include <martello/kernel/cpu/isa_levels.h>

#include <stdint.h>

// The loops of random_isa.cc. Included by ISA sources too, hence C headers only.
namespace martello::cpu {

// See Note [Random counters] in random_cpu.cc. A row is a sample; a block is one Philox call, which gives four f32,
// bool or u32, or two f64.
struct RandomTask {
  uint32_t key[2];
  uint32_t run, top;
  int64_t first_sample;  // of row 0
  int64_t row_elements;
  int64_t first_block, blocks;  // counted along all rows
  double p0, p1, p2;            // of the distribution
};

template <class T>
using RandomLoop = void (*)(const RandomTask& task, T* y);  // y: the whole output

struct RandomLoops {
  RandomLoop<float> uniform_f32;  // p0 + u p1, u in [0, 1), below p2
  RandomLoop<double> uniform_f64;
  RandomLoop<float> normal_f32;  // p0 + z p1
  RandomLoop<double> normal_f64;
  RandomLoop<float> truncated_f32;  // p0 + z p1, |z| <= 2
  RandomLoop<double> truncated_f64;
  RandomLoop<uint8_t> bernoulli;  // 1 with probability p0 / 2^31
  RandomLoop<uint64_t> bits;      // two per block
};

MARTELLO_PER_ISA(extern const RandomLoops random_loops;)

// Those of this machine.
const RandomLoops& random_loops();

}  // namespace martello::cpu
