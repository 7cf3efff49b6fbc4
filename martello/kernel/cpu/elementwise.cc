#include <martello/base/checked.h>
#include <martello/base/error.h>
#include <martello/base/threads.h>
#include <martello/kernel/cpu/caches.h>
#include <martello/kernel/cpu/elementwise.h>
#include <martello/kernel/cpu/elementwise_code.h>
#include <martello/kernel/cpu/elementwise_layout.h>
#include <martello/kernel/cpu/reduction_plan.h>

#include <algorithm>
#include <limits>

namespace martello::cpu {
namespace {

constexpr int64_t kChunkElements = 32768;

Engine engine_for(Isa isa, DType dtype) {
  const bool wide = dtype == f64;
  switch (isa) {
    case Isa::v2: return wide ? v2::engine_f64() : v2::engine_f32();
    case Isa::v3: return wide ? v3::engine_f64() : v3::engine_f32();
    case Isa::v4: break;
  }
  return wide ? v4::engine_f64() : v4::engine_f32();
}

template <class T>
void fill(void* y, int64_t n, double number) {
  std::fill_n(static_cast<T*>(y), n, static_cast<T>(number));
}

}  // namespace

struct ElementwiseKernel::Plan {
  DType dtype;
  Engine engine;
  ElementwiseCode code;
  ElementwiseLayout layout;
  std::vector<int64_t> output_bytes;
  SpanPlan span, narrow_span;  // the latter streams bf16 only
  Shape result;
  int64_t rows, row_elements;
  bool is_copy = false;  // of one input in the computing type, element by element
  std::optional<ReductionPlan> reduction;

  Plan(const ElementwiseProgram& program, const Shape& out, std::span<const Shape> inputs, Isa isa)
      : dtype(program.dtype),
        engine(engine_for(isa, program.dtype)),
        code(make_code(program, engine, isa)),
        layout(make_layout(program, out, inputs)),
        result(out),
        rows(out.rank() ? out[0] : 1),
        row_elements(out.rank() ? out.num_elements(1, out.rank()) : 1) {
    for (const ElementwiseOutput& output : program.outputs) output_bytes.push_back(size_of(output.dtype));
    const ElementwiseArg& first = program.outputs[0].arg;
    if (first.kind == ElementwiseArg::Kind::input && program.outputs.size() == 1) {
      const auto k = static_cast<size_t>(first.index);
      is_copy = program.input_dtypes[k] == dtype && inputs[k].num_elements() == out.num_elements();
      copied = first.index;
    }
    make_span();
  }

  void make_span() {
    span.code = code.code.data();
    span.streaming_code = code.streaming_code.data();
    span.operands = code.operands.data();
    span.output_bytes = output_bytes.data();
    span.input_count = static_cast<int>(layout.inputs.size());
    span.output_count = static_cast<int>(output_bytes.size());
    span.slot_count = code.slot_count;
    span.operand_count = static_cast<int>(code.operands.size());
    span.first_slot = code.first_slot;
    span.first_output = code.first_output;
    span.outer_rank = static_cast<int>(layout.outer_sizes.size());
    span.outer_sizes = layout.outer_sizes.data();
    span.run = layout.run;
    span.period = layout.period;
    span.tiled = layout.tiled;
    span.workspace_bytes = kSlotBytes * (span.slot_count + span.input_count + span.output_count);
    for (InputPlan& input : layout.inputs) {
      if (input.kind == InputKind::dense) continue;
      const int64_t period = input.kind == InputKind::periodic ? span.period : 0;
      const int64_t elements = input.kind == InputKind::fixed ? 0 : kTileElements + period;
      input.tile_offset = span.workspace_bytes;
      span.workspace_bytes += align_up(elements * input.element_bytes, kSlotBytes) + kSlotBytes;
    }
    span.inputs = layout.inputs.data();
    narrow_span = span;
    narrow_span.streaming_code = code.narrow_streaming_code.data();
  }

  void run_elements(const void* const* inputs, void* const* outputs, int threads, int64_t n) const {
    bool is_in_place = false;
    for (int k = 0; k < span.input_count * span.output_count; ++k)
      is_in_place |= inputs[k / span.output_count] == outputs[k % span.output_count];
    // What fills the caches while it is computed leaves none of its results there, rounded or not. A result that lies
    // over an input is there already.
    const bool can_stream = !is_in_place || !code.narrow_streaming_code.empty();
    const bool streaming = can_stream && n * size_of(dtype) > last_level_cache_bytes();
    const SpanRun run{is_in_place ? &narrow_span : &span, inputs, outputs, 0, streaming};
    parallel_for(threads, ceil_div(n, kChunkElements), [&](int64_t chunk) {
      engine.run_range(run, chunk * kChunkElements, std::min(n, (chunk + 1) * kChunkElements));
    });
  }

  void run_reduction(const void* const* inputs, void* const* outputs, void* scratch, int threads,
                     int64_t run_rows) const;
  void reduce_steps(ReduceStep step, const ReductionPass& pass, int64_t run_rows, int threads, char* (&regions)[2],
                    void* result_or_null) const;

  int copied = 0;
};

// One pass: steps until each column has one block. `regions` take turns; the last step writes to y, where there is one.
void ElementwiseKernel::Plan::reduce_steps(ReduceStep x, const ReductionPass& pass, int64_t run_rows, int threads,
                                           char* (&regions)[2], void* y) const {
  int64_t reduced = pass.reduced.at(run_rows);
  do {
    ReduceStep step =
        make_step(reduction->step_kind(), pass.outer.at(run_rows), reduced, pass.inner.at(run_rows), dtype);
    step.x = x.x;
    step.span = x.span;
    step.divisor = step.blocks == 1 ? x.divisor : 1;
    step.y = step.blocks == 1 && y ? y : regions[0];
    const int64_t x_bytes = step.outer * step.reduced * step.inner * size_of(dtype);
    step.may_stream = step.divisor == 1 && x_bytes > last_level_cache_bytes();
    parallel_for(threads, ceil_div(step.items, step.items_per_chunk),
                 [&](int64_t chunk) { engine.reduce_chunk(step, chunk); });
    x.x = step.y;
    reduced = step.blocks;
    std::swap(regions[0], regions[1]);
  } while (reduced > 1);
}

void ElementwiseKernel::Plan::run_reduction(const void* const* inputs, void* const* outputs, void* scratch, int threads,
                                            int64_t run_rows) const {
  const SpanRun span_run{&span, inputs, nullptr, 0, false};
  char* regions[2] = {static_cast<char*>(scratch),
                      static_cast<char*>(scratch) + align_up(reduction->intermediate_elements * size_of(dtype), 64)};
  ReduceStep x;
  x.x = is_copy ? inputs[copied] : nullptr;
  x.span = &span_run;
  for (size_t p = 0; p < reduction->passes.size(); ++p) {
    const ReductionPass& pass = reduction->passes[p];
    const bool last = p + 1 == reduction->passes.size();
    void* y = last ? outputs[0] : nullptr;
    const int64_t n = pass.outer.at(run_rows) * pass.inner.at(run_rows);
    const bool mean = last && reduction->kind == Reduction::Kind::mean;
    x.divisor = mean ? static_cast<double>(reduction->count.at(run_rows)) : 1;
    if (n == 0) continue;
    if (pass.reduced.at(run_rows) == 0) {
      const double nothing = mean ? std::numeric_limits<double>::quiet_NaN() : reduction->of_nothing();
      y = y ? y : regions[0];
      dtype == f32 ? fill<float>(y, n, nothing) : fill<double>(y, n, nothing);
      std::swap(regions[0], regions[1]);
    } else {
      reduce_steps(x, pass, run_rows, threads, regions, y);
    }
    x.x = regions[1];
  }
}

ElementwiseKernel::ElementwiseKernel(const ElementwiseProgram& program, const Shape& out, std::span<const Shape> inputs,
                                     const std::optional<Reduction>& reduction, Isa isa) {
  check_program(program);
  MARTELLO_CHECK(isa <= host_isa(), "[elementwise] this machine runs ", host_isa(), ", asked for ", isa, ".");
  auto plan = std::make_shared<Plan>(program, out, inputs, isa);
  if (reduction) {
    MARTELLO_CHECK(program.outputs.size() == 1 && program.outputs[0].dtype == program.dtype,
                   "[elementwise] a reduction wants one output in ", program.dtype, "; the program has ",
                   program.outputs.size(), ", the first in ", program.outputs[0].dtype, ".");
    ReductionPlan reduction_plan = make_reduction_plan(out, *reduction, program.dtype);
    plan->result = reduction_plan.result;
    if (!reduction_plan.passes.empty()) plan->reduction = std::move(reduction_plan);
  }
  plan_ = std::move(plan);
}

const Shape& ElementwiseKernel::result_shape() const { return plan_->result; }

int64_t ElementwiseKernel::scratch_bytes(int) const {
  if (!plan_->reduction) return 0;
  return 2 * align_up(plan_->reduction->intermediate_elements * size_of(plan_->dtype), 64);
}

void ElementwiseKernel::run(const void* const* inputs, void* const* outputs, void* scratch, int threads,
                            int64_t rows) const {
  MARTELLO_ASSERT(rows >= -1 && rows <= plan_->rows, "[elementwise] ", rows, " rows, planned for ", plan_->rows, ".");
  if (rows < 0) rows = plan_->rows;
  if (plan_->reduction) {
    plan_->run_reduction(inputs, outputs, scratch, threads, rows);
  } else if (rows * plan_->row_elements > 0) {
    plan_->run_elements(inputs, outputs, threads, rows * plan_->row_elements);
  }
}

}  // namespace martello::cpu
