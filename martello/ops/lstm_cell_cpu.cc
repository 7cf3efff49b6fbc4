#include <martello/base/threads.h>
#include <martello/kernel/cpu/isa.h>
#include <martello/ops/internal/axis_view.h>
#include <martello/ops/internal/lstm_loops.h>
#include <martello/ops/lstm_cell.h>

#include <algorithm>

namespace martello {

namespace cpu {
template <>
const LstmLoops<float>& lstm_loops<float>() {
  return of_host_isa(v2::lstm_loops_f32, v3::lstm_loops_f32, v4::lstm_loops_f32);
}
template <>
const LstmLoops<double>& lstm_loops<double>() {
  return of_host_isa(v2::lstm_loops_f64, v3::lstm_loops_f64, v4::lstm_loops_f64);
}
}  // namespace cpu

namespace {

constexpr int64_t kNumbersPerCell = 16;  // the work of a cell, in elements of simpler loops

// Calls f(first row, rows) for chunks of the rows of this run.
template <class F>
void for_rows(const KernelRun& run, int64_t units, F f) {
  const int64_t rows = units > 0 ? run.in_[1].count / units : 0,
                chunk = internal::rows_per_chunk(kNumbersPerCell * units);
  parallel_for(run.threads, ceil_div(rows, chunk), [&](int64_t c) { f(c * chunk, std::min(chunk, rows - c * chunk)); });
}

template <class T>
Kernel cell_kernel(int64_t units, double forget_bias) {
  return Kernel([=](const KernelRun& run) {
    const T *z = run.in<T>(0).data(), *c = run.in<T>(1).data();
    T *h = run.out<T>(0).data(), *next_c = run.out<T>(1).data(), *gates = run.out<T>(2).data();
    for_rows(run, units, [&](int64_t first, int64_t rows) {
      const int64_t at = first * units;
      cpu::lstm_loops<T>().cells({.rows = rows,
                                  .units = units,
                                  .row = units,
                                  .gates_row = 4 * units,
                                  .gate = units,
                                  .forget_bias = forget_bias,
                                  .z = z + 4 * at,
                                  .added = nullptr,
                                  .added_row = 0,
                                  .added_gate = 0,
                                  .c = c + at,
                                  .gates = gates + 4 * at,
                                  .next_c = next_c + at,
                                  .h = h + at});
    });
  });
}

template <class T>
Kernel cell_grad_kernel(int64_t units) {
  return Kernel([=](const KernelRun& run) {
    for_rows(run, units, [&](int64_t first, int64_t rows) {
      const int64_t at = first * units;
      cpu::lstm_loops<T>().cells_grad({.rows = rows,
                                       .units = units,
                                       .row = units,
                                       .gates_row = 4 * units,
                                       .gate = units,
                                       .gates = run.in<T>(0).data() + 4 * at,
                                       .c = run.in<T>(1).data() + at,
                                       .next_c = run.in<T>(2).data() + at,
                                       .dh = run.in<T>(3).data() + at,
                                       .added = nullptr,
                                       .added_row = 0,
                                       .dnext_c = run.in<T>(4).data() + at,
                                       .dz = run.out<T>(0).data() + 4 * at,
                                       .dc = run.out<T>(1).data() + at});
    });
  });
}

}  // namespace

Kernel lstm_cell_cpu(const KernelPlan& plan) {
  const int64_t units = plan.in[1].shape[-1];
  const double forget_bias = plan.attrs<LstmAttrs>().forget_bias;
  return plan.in[0].dtype == f32 ? cell_kernel<float>(units, forget_bias) : cell_kernel<double>(units, forget_bias);
}
Kernel lstm_cell_grad_cpu(const KernelPlan& plan) {
  const int64_t units = plan.in[1].shape[-1];
  return plan.in[0].dtype == f32 ? cell_grad_kernel<float>(units) : cell_grad_kernel<double>(units);
}

}  // namespace martello
