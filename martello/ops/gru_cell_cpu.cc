#include <martello/base/threads.h>
#include <martello/kernel/cpu/isa.h>
#include <martello/ops/gru_cell.h>
#include <martello/ops/internal/axis_view.h>
#include <martello/ops/internal/gru_loops.h>

#include <algorithm>

namespace martello {

namespace cpu {
template <>
const GruLoops<float>& gru_loops<float>() {
  return of_host_isa(v2::gru_loops_f32, v3::gru_loops_f32, v4::gru_loops_f32);
}
template <>
const GruLoops<double>& gru_loops<double>() {
  return of_host_isa(v2::gru_loops_f64, v3::gru_loops_f64, v4::gru_loops_f64);
}
}  // namespace cpu

namespace {

constexpr int64_t kNumbersPerCell = 16;  // the work of a cell, in elements of simpler loops

// Calls f(first row, rows) for chunks of the rows of this run.
template <class F>
void for_rows(const KernelRun& run, int state, int64_t units, F f) {
  const int64_t rows = units > 0 ? run.in_[state].count / units : 0;
  const int64_t chunk = internal::rows_per_chunk(kNumbersPerCell * units);
  parallel_for(run.threads, ceil_div(rows, chunk), [&](int64_t c) { f(c * chunk, std::min(chunk, rows - c * chunk)); });
}

template <class T>
Kernel cell_kernel(int64_t units) {
  return Kernel([=](const KernelRun& run) {
    for_rows(run, 2, units, [&](int64_t first, int64_t rows) {
      const int64_t at = first * units;
      cpu::gru_loops<T>().cells({.rows = rows,
                                 .units = units,
                                 .row = units,
                                 .x_row = 3 * units,
                                 .gates_row = 4 * units,
                                 .part = units,
                                 .x = run.in<T>(0).data() + 3 * at,
                                 .added = run.in<T>(1).data() + 3 * at,
                                 .added_row = 3 * units,
                                 .added_part = units,
                                 .bias = nullptr,
                                 .h = run.in<T>(2).data() + at,
                                 .gates = run.out<T>(1).data() + 4 * at,
                                 .next_h = run.out<T>(0).data() + at});
    });
  });
}

template <class T>
Kernel cell_grad_kernel(int64_t units) {
  return Kernel([=](const KernelRun& run) {
    for_rows(run, 1, units, [&](int64_t first, int64_t rows) {
      const int64_t at = first * units;
      cpu::gru_loops<T>().cells_grad({.rows = rows,
                                      .units = units,
                                      .row = units,
                                      .x_row = 3 * units,
                                      .gates_row = 4 * units,
                                      .part = units,
                                      .gates = run.in<T>(0).data() + 4 * at,
                                      .h = run.in<T>(1).data() + at,
                                      .dnext_h = run.in<T>(2).data() + at,
                                      .added = nullptr,
                                      .added_row = 0,
                                      .carried = nullptr,
                                      .dx = run.out<T>(0).data() + 3 * at,
                                      .dadded = run.out<T>(1).data() + 3 * at,
                                      .dh = run.out<T>(2).data() + at});
    });
  });
}

}  // namespace

Kernel gru_cell_cpu(const KernelPlan& plan) {
  const int64_t units = plan.in[2].shape[-1];
  return plan.in[0].dtype == f32 ? cell_kernel<float>(units) : cell_kernel<double>(units);
}
Kernel gru_cell_grad_cpu(const KernelPlan& plan) {
  const int64_t units = plan.in[1].shape[-1];
  return plan.in[0].dtype == f32 ? cell_grad_kernel<float>(units) : cell_grad_kernel<double>(units);
}

}  // namespace martello
