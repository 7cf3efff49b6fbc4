#include <martello/ops/internal/lstm_loops.h>
#include <martello/ops/internal/sequence_kernel.h>
#include <martello/ops/internal/sequence_product.h>
#include <martello/ops/lstm_sequence.h>

namespace martello {

Kernel lstm_sequence_grad_cpu(const KernelPlan&);

namespace {

using internal::add_ahead;
using internal::copy_elements;
using internal::multiply_block;
using internal::SequenceBlocks;
using internal::SequenceLengths;
using internal::SequencePart;

constexpr int64_t kGates = 4;
constexpr int64_t kUnits = 32;  // of a block, which has as many columns

// dz[t] needs dh[t] = dy[t] + dz[t + 1] w^T, of which a block of units needs its rows of w only. The last step of a row
// gets the gradients of the last state instead; steps past it have none.
template <class T>
class Backward {
 public:
  Backward(const SequenceBlocks& sizes, const KernelRun& run, const SequenceLengths& lengths)
      : s_(sizes), run_(run), lengths_(lengths) {}

  void all() {
    if (!s_.is_empty()) internal::pack_rows(run_.threads, s_, in(2), block(0));
    for (int64_t t = s_.is_empty() ? 0 : s_.steps; t-- > 0;)
      for_parts(run_.threads, s_, t, [&](const SequencePart& p) { step(t, p); });
    for_parts(run_.threads, s_, -1, [&](const SequencePart& p) { first_state(p); });
  }

 private:
  const T* in(int i) const { return run_.in<T>(i).data(); }
  T* out(int i) const { return run_.out<T>(i).data(); }
  T* block(int64_t b) const { return reinterpret_cast<T*>(run_.scratch) + b * s_.gates_row() * kUnits; }

  // The part of dh that comes from step t + 1.
  void through_time(int64_t t, const SequencePart& p, T* tile, cpu::GemmAhead& ahead) const {
    const T* dz = out(0) + ((t + 1) * s_.rows + p.first_row) * s_.gates_row();
    multiply_block(dz, s_.gates_row(), block(p.block), kUnits, p.units, p.rows, tile, ahead);
  }

  void step(int64_t t, const SequencePart& p) const {
    alignas(64) T tile[SequenceBlocks::kMostRows * kUnits];
    cpu::GemmAhead ahead;
    add_lines(t, p, ahead);
    if (t + 1 < s_.steps) through_time(t, p, tile, ahead);
    if (lengths_.are_all()) return compute(t, p, t + 1 == s_.steps ? nullptr : tile, 0, p.rows);
    for (int64_t r = 0; r < p.rows; ++r) {
      const int64_t length = lengths_.of_row(run_, p.first_row + r);
      if (t < length) compute(t, p, t + 1 == length ? nullptr : tile, r, 1);
      else clear(t, p, p.first_row + r);
    }
  }

  void add_lines(int64_t t, const SequencePart& p, cpu::GemmAhead& ahead) const {
    const int64_t at = p.first_row * s_.units + p.first_unit, of_step = t * s_.state() + at;
    const T* gates = in(0) + (t * s_.rows + p.first_row) * s_.gates_row() + p.first_unit;
    for (int64_t gate = 0; gate < kGates; ++gate)
      add_ahead(ahead, gates + gate * s_.units, p.rows, s_.gates_row(), p.units);
    for (const T* numbers : {in(1) + of_step, in(4) + of_step, static_cast<const T*>(out(2)) + at})
      add_ahead(ahead, numbers, p.rows, s_.units, p.units);
    if (t > 0) add_ahead(ahead, in(1) + of_step - s_.state(), p.rows, s_.units, p.units);
  }

  // `tile` is null at the last step of these rows.
  void compute(int64_t t, const SequencePart& p, const T* tile, int64_t first, int64_t rows) const {
    const int64_t row = p.first_row + first, at = row * s_.units + p.first_unit, of_step = t * s_.state() + at;
    const int64_t gates = (t * s_.rows + row) * s_.gates_row() + p.first_unit;
    cpu::lstm_loops<T>().cells_grad({.rows = rows,
                                     .units = p.units,
                                     .row = s_.units,
                                     .gates_row = s_.gates_row(),
                                     .gate = s_.units,
                                     .gates = in(0) + gates,
                                     .c = t > 0 ? in(1) + of_step - s_.state() : in(3) + at,
                                     .next_c = in(1) + of_step,
                                     .dh = in(4) + of_step,
                                     .added = tile ? tile + first * kUnits : in(5) + at,
                                     .added_row = tile ? kUnits : s_.units,
                                     .dnext_c = (tile ? out(2) : in(6)) + at,
                                     .dz = out(0) + gates,
                                     .dc = out(2) + at});
  }

  void clear(int64_t t, const SequencePart& p, int64_t row) const {
    for (int64_t gate = 0; gate < kGates; ++gate)
      std::fill_n(out(0) + (t * s_.rows + row) * s_.gates_row() + gate * s_.units + p.first_unit, p.units, T{0});
  }

  void first_state(const SequencePart& p) const {
    alignas(64) T tile[SequenceBlocks::kMostRows * kUnits];
    cpu::GemmAhead none;
    if (s_.steps > 0) through_time(-1, p, tile, none);
    for (int64_t r = 0; r < p.rows; ++r) {
      const int64_t row = p.first_row + r, at = row * s_.units + p.first_unit;
      const bool has_steps = lengths_.of_row(run_, row) > 0;
      copy_elements(has_steps ? tile + r * kUnits : in(5) + at, p.units, out(1) + at);
      if (!has_steps) copy_elements(in(6) + at, p.units, out(2) + at);
    }
  }

  SequenceBlocks s_;
  const KernelRun& run_;
  const SequenceLengths& lengths_;
};

}  // namespace

Kernel lstm_sequence_grad_cpu(const KernelPlan& plan) {
  const auto work = []<class T>(const SequenceBlocks& sizes, const KernelRun& run, const SequenceLengths& lengths) {
    Backward<T>(sizes, run, lengths).all();
  };
  return internal::sequence_kernel(plan, {.weights = 2, .lengths = 7, .gates = kGates, .block_units = kUnits}, work);
}

}  // namespace martello
