#pragma once
#include <martello/kernel/cpu/isa_levels.h>

#include <stdint.h>

// What the planner (elementwise.cc) hands to the sources that are compiled per instruction set: plain data, so that no
// inline function is shared with them.
namespace martello::cpu {

inline constexpr int kMaxRank = 8, kMaxOperands = 512;
inline constexpr int64_t kSlotBytes = 512;      // eight of the widest vectors
inline constexpr int64_t kTileElements = 1024;  // of a broadcast operand that is laid out before use

// A stage computes eight vectors and calls the next one; its type depends on dtype and instruction set.
using Stage = void (*)();
struct Instr {
  Stage stage = nullptr;
  int32_t a = 0, b = 0;  // operands in memory
  double p0 = 0, p1 = 0;
};

// Element i of an operand lies at base + (bytes of i elements & mask): the mask is 0 for what does not move.
// Without initializers: arrays of them lie on the stack of every run.
struct Operand {
  char* base;
  int64_t mask;
};

enum class InputKind { dense, fixed, periodic, repeat, gather };

// Element e of a run of an input lies at (e / period) step + offsets[e % period] from the run's first.
struct InputPlan {
  InputKind kind = InputKind::dense;
  int64_t element_bytes = 4;
  int64_t strides[kMaxRank] = {};  // over the outer dimensions, in elements
  int64_t step = 0;
  const int32_t* offsets = nullptr;
  int64_t tile_offset = 0;  // in the workspace; unless dense
};

// A program over the elements of its output in order. They are cut into runs, at each of which the outer coordinates
// are fixed. Operands: inputs, constants, slots, outputs.
struct SpanPlan {
  const Instr* code = nullptr;
  const Instr* streaming_code = nullptr;
  const Operand* operands = nullptr;
  const InputPlan* inputs = nullptr;
  const int64_t* output_bytes = nullptr;  // of an element
  int input_count = 0, output_count = 0, slot_count = 0, operand_count = 0, first_slot = 0, first_output = 0;
  int outer_rank = 0;
  const int64_t* outer_sizes = nullptr;
  int64_t run = INT64_MAX, period = 1;
  bool tiled = false;           // some input is laid out in tiles
  int64_t workspace_bytes = 0;  // on the stack: slots, one pad per input and output, tiles
};

struct SpanRun {
  const SpanPlan* plan;
  const void* const* inputs;
  void* const* outputs;  // of element `origin`
  int64_t origin;
  bool streaming;
};

enum class ReduceKind { sum, max, min, prod };

// One level of a reduction of x [outer, reduced, inner] to y [outer, blocks, inner]. See Note [Order of sums].
struct ReduceStep {
  ReduceKind kind = ReduceKind::sum;
  int64_t outer = 0, reduced = 0, inner = 0, blocks = 0;
  int64_t merged = 1;                      // rows per merged row
  int64_t columns = 0;                     // of a stretch of a row of at least the lanes
  int64_t items = 0, items_per_chunk = 1;  // an item is one block, or one stretch of columns of it
  const void* x = nullptr;                 // or null: computed by `span`
  const SpanRun* span = nullptr;
  void* y = nullptr;
  double divisor = 1;       // of y, in the last step of a mean
  bool may_stream = false;  // y past the caches, which x fills
};

struct Engine {
  int64_t block;  // elements of eight vectors
  Stage load, store, stream, load_byte, store_u8, store_bool, store_bf16, stream_bf16, done;
  Stage (*formula_stage)(const void* stages, int position);
  void (*run_range)(const SpanRun& run, int64_t begin, int64_t end);
  void (*reduce_chunk)(const ReduceStep& step, int64_t chunk);
};

MARTELLO_PER_ISA(Engine engine_f32(); Engine engine_f64();)

}  // namespace martello::cpu
