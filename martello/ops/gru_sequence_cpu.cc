#include <martello/ops/gru_sequence.h>
#include <martello/ops/internal/gru_loops.h>
#include <martello/ops/internal/sequence_kernel.h>
#include <martello/ops/internal/sequence_product.h>

namespace martello {
namespace {

using internal::add_ahead;
using internal::copy_elements;
using internal::multiply_block;
using internal::SequenceBlocks;
using internal::SequenceLengths;
using internal::SequencePart;

constexpr int64_t kGates = 3, kKept = 4;
constexpr int64_t kUnits = 16;  // of a block: 48 columns

// See Note [LSTM sequence].
template <class T>
class Forward {
 public:
  Forward(const SequenceBlocks& sizes, const KernelRun& run, const SequenceLengths& lengths)
      : s_(sizes), run_(run), lengths_(lengths) {}

  void all() {
    if (!s_.is_empty()) internal::pack_columns<kUnits>(run_.threads, s_, in(1), block(0));
    for (int64_t t = 0; !s_.is_empty() && t < s_.steps; ++t)
      for_parts(run_.threads, s_, t, [&](const SequencePart& p) { step(t, p); });
    for (int64_t r = 0; r < s_.rows; ++r) {
      const int64_t length = lengths_.of_row(run_, r), at = r * s_.units;
      copy_elements(before(length) + at, s_.units, out(1) + at);
    }
  }

 private:
  static constexpr int64_t kColumns = kGates * kUnits;
  const T* in(int i) const { return run_.in<T>(i).data(); }
  T* out(int i) const { return run_.out<T>(i).data(); }
  T* y(int64_t t) const { return out(0) + t * s_.state(); }
  const T* before(int64_t t) const { return t > 0 ? y(t - 1) : in(3); }
  T* gates(int64_t t, int64_t row) const { return out(2) + (t * s_.rows + row) * kKept * s_.units; }
  T* block(int64_t b) const { return reinterpret_cast<T*>(run_.scratch) + b * s_.units * kColumns; }

  void step(int64_t t, const SequencePart& p) const {
    alignas(64) T tile[SequenceBlocks::kMostRows * kColumns];
    cpu::GemmAhead ahead;
    add_lines(t, p, ahead);
    multiply_block(before(t) + p.first_row * s_.units, s_.units, block(p.block), kColumns, kColumns, p.rows, tile,
                   ahead);
    if (lengths_.are_all()) return compute(t, p, tile, 0, p.rows);
    for (int64_t r = 0; r < p.rows; ++r) {
      if (t < lengths_.of_row(run_, p.first_row + r)) compute(t, p, tile, r, 1);
      else clear(t, p, p.first_row + r);
    }
  }

  void add_lines(int64_t t, const SequencePart& p, cpu::GemmAhead& ahead) const {
    const T* x = in(0) + (t * s_.rows + p.first_row) * s_.gates_row() + p.first_unit;
    for (int64_t gate = 0; gate < kGates; ++gate)
      add_ahead(ahead, x + gate * s_.units, p.rows, s_.gates_row(), p.units);
    add_ahead(ahead, before(t) + p.first_row * s_.units + p.first_unit, p.rows, s_.units, p.units);
  }

  void compute(int64_t t, const SequencePart& p, const T* tile, int64_t first, int64_t rows) const {
    const int64_t row = p.first_row + first, at = row * s_.units + p.first_unit;
    cpu::gru_loops<T>().cells({.rows = rows,
                               .units = p.units,
                               .row = s_.units,
                               .x_row = s_.gates_row(),
                               .gates_row = kKept * s_.units,
                               .part = s_.units,
                               .x = in(0) + (t * s_.rows + row) * s_.gates_row() + p.first_unit,
                               .added = tile + first * kColumns,
                               .added_row = kColumns,
                               .added_part = kUnits,
                               .bias = in(2) + p.first_unit,
                               .h = before(t) + at,
                               .gates = gates(t, row) + p.first_unit,
                               .next_h = y(t) + at});
  }

  void clear(int64_t t, const SequencePart& p, int64_t row) const {
    std::fill_n(y(t) + row * s_.units + p.first_unit, p.units, T{0});
    for (int64_t k = 0; k < kKept; ++k) std::fill_n(gates(t, row) + k * s_.units + p.first_unit, p.units, T{0});
  }

  SequenceBlocks s_;
  const KernelRun& run_;
  const SequenceLengths& lengths_;
};

}  // namespace

Kernel gru_sequence_cpu(const KernelPlan& plan) {
  const auto work = []<class T>(const SequenceBlocks& sizes, const KernelRun& run, const SequenceLengths& lengths) {
    Forward<T>(sizes, run, lengths).all();
  };
  return internal::sequence_kernel(plan, {.weights = 1, .lengths = 4, .gates = kGates, .block_units = kUnits}, work);
}

}  // namespace martello
