#include <martello/ops/gru_sequence.h>
#include <martello/ops/internal/gru_loops.h>
#include <martello/ops/internal/sequence_kernel.h>
#include <martello/ops/internal/sequence_product.h>

namespace martello {

Kernel gru_sequence_grad_cpu(const KernelPlan&);

namespace {

using internal::add_ahead;
using internal::copy_elements;
using internal::multiply_block;
using internal::SequenceBlocks;
using internal::SequenceLengths;
using internal::SequencePart;

constexpr int64_t kGates = 3, kKept = 4;
constexpr int64_t kUnits = 32;  // of a block, which has as many columns

// dh[t] = dy[t] + da[t + 1] w^T + what step t + 1 passed by its update gate, which lies in dh0 until the end. The last
// step of a row gets the gradient of the last state instead; steps past it have none.
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
  int64_t gates_at(int64_t t, int64_t row) const { return (t * s_.rows + row) * s_.gates_row(); }

  void through_time(int64_t t, const SequencePart& p, T* tile, cpu::GemmAhead& ahead) const {
    multiply_block(out(1) + gates_at(t + 1, p.first_row), s_.gates_row(), block(p.block), kUnits, p.units, p.rows, tile,
                   ahead);
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
    const T* gates = in(0) + (t * s_.rows + p.first_row) * kKept * s_.units + p.first_unit;
    for (int64_t k = 0; k < kKept; ++k) add_ahead(ahead, gates + k * s_.units, p.rows, kKept * s_.units, p.units);
    add_ahead(ahead, in(4) + of_step, p.rows, s_.units, p.units);
    add_ahead(ahead, out(2) + at, p.rows, s_.units, p.units);
    if (t > 0) add_ahead(ahead, in(1) + of_step - s_.state(), p.rows, s_.units, p.units);
  }

  // `tile` is null at the last step of these rows.
  void compute(int64_t t, const SequencePart& p, const T* tile, int64_t first, int64_t rows) const {
    const int64_t row = p.first_row + first, at = row * s_.units + p.first_unit, of_step = t * s_.state() + at;
    const int64_t gates = gates_at(t, row) + p.first_unit;
    cpu::gru_loops<T>().cells_grad({.rows = rows,
                                    .units = p.units,
                                    .row = s_.units,
                                    .x_row = s_.gates_row(),
                                    .gates_row = kKept * s_.units,
                                    .part = s_.units,
                                    .gates = in(0) + (t * s_.rows + row) * kKept * s_.units + p.first_unit,
                                    .h = t > 0 ? in(1) + of_step - s_.state() : in(3) + at,
                                    .dnext_h = in(4) + of_step,
                                    .added = tile ? tile + first * kUnits : in(5) + at,
                                    .added_row = tile ? kUnits : s_.units,
                                    .carried = tile ? out(2) + at : nullptr,
                                    .dx = out(0) + gates,
                                    .dadded = out(1) + gates,
                                    .dh = out(2) + at});
  }

  void clear(int64_t t, const SequencePart& p, int64_t row) const {
    for (T* to : {out(0), out(1)})
      for (int64_t k = 0; k < kGates; ++k)
        std::fill_n(to + gates_at(t, row) + k * s_.units + p.first_unit, p.units, T{0});
  }

  void first_state(const SequencePart& p) const {
    alignas(64) T tile[SequenceBlocks::kMostRows * kUnits];
    cpu::GemmAhead none;
    if (s_.steps > 0) through_time(-1, p, tile, none);
    for (int64_t r = 0; r < p.rows; ++r) {
      const int64_t row = p.first_row + r, at = row * s_.units + p.first_unit;
      if (lengths_.of_row(run_, row) == 0) copy_elements(in(5) + at, p.units, out(2) + at);
      else
        for (int64_t u = 0; u < p.units; ++u) out(2)[at + u] += tile[r * kUnits + u];
    }
  }

  SequenceBlocks s_;
  const KernelRun& run_;
  const SequenceLengths& lengths_;
};

}  // namespace

Kernel gru_sequence_grad_cpu(const KernelPlan& plan) {
  const auto work = []<class T>(const SequenceBlocks& sizes, const KernelRun& run, const SequenceLengths& lengths) {
    Backward<T>(sizes, run, lengths).all();
  };
  return internal::sequence_kernel(plan, {.weights = 2, .lengths = 6, .gates = kGates, .block_units = kUnits}, work);
}

}  // namespace martello
