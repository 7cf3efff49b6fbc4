#include <martello/ops/internal/lstm_loops.h>
#include <martello/ops/internal/sequence_kernel.h>
#include <martello/ops/internal/sequence_product.h>
#include <martello/ops/lstm_sequence.h>

namespace martello {
namespace {

using internal::add_ahead;
using internal::copy_elements;
using internal::multiply_block;
using internal::SequenceBlocks;
using internal::SequenceLengths;
using internal::SequencePart;

constexpr int64_t kGates = 4;
constexpr int64_t kUnits = 16;  // of a block: 64 columns

// See Note [LSTM sequence].
template <class T>
class Forward {
 public:
  Forward(const SequenceBlocks& sizes, double forget_bias, const KernelRun& run, const SequenceLengths& lengths)
      : s_(sizes), forget_bias_(forget_bias), run_(run), lengths_(lengths) {}

  void all() {
    if (!s_.is_empty()) internal::pack_columns<kUnits>(run_.threads, s_, in(1), block(0));
    for (int64_t t = 0; !s_.is_empty() && t < s_.steps; ++t)
      for_parts(run_.threads, s_, t, [&](const SequencePart& p) { step(t, p); });
    for (int64_t r = 0; r < s_.rows; ++r) {
      const int64_t length = lengths_.of_row(run_, r), at = r * s_.units;
      copy_elements(length > 0 ? y(length - 1) + at : in(2) + at, s_.units, out(1) + at);
      copy_elements(s_.steps > 0 ? cells(s_.steps - 1) + at : in(3) + at, s_.units, out(2) + at);
    }
  }

 private:
  static constexpr int64_t kColumns = kGates * kUnits;
  const T* in(int i) const { return run_.in<T>(i).data(); }
  T* out(int i) const { return run_.out<T>(i).data(); }
  T* y(int64_t t) const { return out(0) + t * s_.state(); }
  T* cells(int64_t t) const { return out(4) + t * s_.state(); }
  T* block(int64_t b) const { return reinterpret_cast<T*>(run_.scratch) + b * s_.units * kColumns; }

  void step(int64_t t, const SequencePart& p) const {
    alignas(64) T tile[SequenceBlocks::kMostRows * kColumns];
    const T* h = t > 0 ? y(t - 1) : in(2);
    cpu::GemmAhead ahead;
    add_lines(t, p, ahead);
    multiply_block(h + p.first_row * s_.units, s_.units, block(p.block), kColumns, kColumns, p.rows, tile, ahead);
    if (lengths_.are_all()) return compute(t, p, tile, 0, p.rows);
    for (int64_t r = 0; r < p.rows; ++r) {
      if (t < lengths_.of_row(run_, p.first_row + r)) compute(t, p, tile, r, 1);
      else freeze(t, p, p.first_row + r);
    }
  }

  void add_lines(int64_t t, const SequencePart& p, cpu::GemmAhead& ahead) const {
    const T* gates = in(0) + (t * s_.rows + p.first_row) * s_.gates_row() + p.first_unit;
    for (int64_t gate = 0; gate < kGates; ++gate)
      add_ahead(ahead, gates + gate * s_.units, p.rows, s_.gates_row(), p.units);
    for (const T* numbers : {before(t), static_cast<const T*>(cells(t)), static_cast<const T*>(y(t))})
      add_ahead(ahead, numbers + p.first_row * s_.units + p.first_unit, p.rows, s_.units, p.units);
  }

  void compute(int64_t t, const SequencePart& p, const T* tile, int64_t first, int64_t rows) const {
    const int64_t row = p.first_row + first, at = row * s_.units + p.first_unit;
    const int64_t gates = (t * s_.rows + row) * s_.gates_row() + p.first_unit;
    cpu::lstm_loops<T>().cells({.rows = rows,
                                .units = p.units,
                                .row = s_.units,
                                .gates_row = s_.gates_row(),
                                .gate = s_.units,
                                .forget_bias = forget_bias_,
                                .z = in(0) + gates,
                                .added = tile + first * kColumns,
                                .added_row = kColumns,
                                .added_gate = kUnits,
                                .c = before(t) + at,
                                .gates = out(3) + gates,
                                .next_c = cells(t) + at,
                                .h = y(t) + at});
  }

  const T* before(int64_t t) const { return t > 0 ? cells(t - 1) : in(3); }

  void freeze(int64_t t, const SequencePart& p, int64_t row) const {
    const int64_t at = row * s_.units + p.first_unit;
    copy_elements(before(t) + at, p.units, cells(t) + at);
    std::fill_n(y(t) + at, p.units, T{0});
    for (int64_t gate = 0; gate < kGates; ++gate)
      std::fill_n(out(3) + (t * s_.rows + row) * s_.gates_row() + gate * s_.units + p.first_unit, p.units, T{0});
  }

  SequenceBlocks s_;
  double forget_bias_;
  const KernelRun& run_;
  const SequenceLengths& lengths_;
};

}  // namespace

Kernel lstm_sequence_cpu(const KernelPlan& plan) {
  const auto work = [forget_bias = plan.attrs<LstmAttrs>().forget_bias]<class T>(
                        const SequenceBlocks& sizes, const KernelRun& run, const SequenceLengths& lengths) {
    Forward<T>(sizes, forget_bias, run, lengths).all();
  };
  return internal::sequence_kernel(plan, {.weights = 1, .lengths = 4, .gates = kGates, .block_units = kUnits}, work);
}

}  // namespace martello
