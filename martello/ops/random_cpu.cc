#include <martello/base/checked.h>
#include <martello/base/error.h>
#include <martello/base/philox.h>
#include <martello/base/threads.h>
#include <martello/kernel/cpu/isa.h>
#include <martello/ops/internal/random_plan.h>
#include <martello/ops/random.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

// Note [Random counters]: the 128 bits that Philox takes are the block within the sample (32), the low half of the
// sample (32), the low half of the run (32), and the stream (1), the rest of the run (15) and of the sample (16). The
// key is the op's. Two ops, runs, streams, samples or blocks never share a counter.
namespace martello {

const cpu::RandomLoops& cpu::random_loops() {
  return of_host_isa(v2::random_loops, v3::random_loops, v4::random_loops);
}

namespace internal {

RandomPlan make_random_plan(const KernelPlan& plan, int64_t key, int64_t per_block) {
  const Shape& y = plan.out[0].shape;
  RandomPlan p;
  const uint64_t bits = static_cast<uint64_t>(key);
  p.task.key[0] = static_cast<uint32_t>(bits);
  p.task.key[1] = static_cast<uint32_t>(bits >> 32);
  p.rows = y.rank() > 0 ? y[0] : 1;
  p.task.row_elements = y.rank() > 0 ? y.num_elements(1, y.rank()) : 1;
  const int64_t row_blocks = ceil_div(p.task.row_elements, per_block);
  MARTELLO_CHECK(row_blocks <= int64_t{1} << 32, plan.op.where(), "a row of ", y, " has ", p.task.row_elements,
                 " elements; the counter counts ", per_block << 32, ". Cut it along another axis 0.");
  p.blocks = checked_mul(p.rows, row_blocks);
  return p;
}

cpu::RandomTask make_random_task(const KernelRun& run, const RandomPlan& plan) {
  cpu::RandomTask task = plan.task;
  const uint64_t number = static_cast<uint64_t>(run.in<int64_t>(0)[static_cast<size_t>(run.params->stream)]);
  task.run = static_cast<uint32_t>(number);
  task.top = static_cast<uint32_t>(run.params->stream) << 31 | static_cast<uint32_t>(number >> 32 & 0x7fff) << 16;
  task.first_sample = run.params->first_sample;
  return task;
}

}  // namespace internal

namespace {

using Plan = internal::RandomPlan;
using internal::make_random_plan;

constexpr int64_t kChunkBlocks = 4096;

template <class T>
void fill(const KernelRun& run, const Plan& plan, cpu::RandomLoop<T> loop, T* y) {
  const cpu::RandomTask whole = internal::make_random_task(run, plan);
  parallel_for(run.threads, ceil_div(plan.blocks, kChunkBlocks), [&](int64_t i) {
    cpu::RandomTask task = whole;
    task.first_block = i * kChunkBlocks;
    task.blocks = std::min(kChunkBlocks, plan.blocks - task.first_block);
    loop(task, y);
  });
}

Kernel floating_kernel(const KernelPlan& plan, Plan p, cpu::RandomLoop<float> loop32, cpu::RandomLoop<double> loop64) {
  if (plan.out[0].dtype == f32)
    return Kernel([=](const KernelRun& run) { fill(run, p, loop32, run.out<float>(0).data()); });
  return Kernel([=](const KernelRun& run) { fill(run, p, loop64, run.out<double>(0).data()); });
}

int64_t per_block(DType dtype) { return dtype == f32 ? 4 : 2; }

Plan normal_plan(const KernelPlan& plan) {
  const auto& attrs = plan.attrs<RandomNormalAttrs>();
  Plan p = make_random_plan(plan, attrs.key, per_block(attrs.dtype));
  p.task.p0 = attrs.mean;
  p.task.p1 = attrs.stddev;
  return p;
}

}  // namespace

Kernel random_uniform_cpu(const KernelPlan& plan) {
  const auto& attrs = plan.attrs<RandomUniformAttrs>();
  Plan p = make_random_plan(plan, attrs.key, per_block(attrs.dtype));
  p.task.p0 = attrs.low;
  p.task.p1 = attrs.high - attrs.low;
  const float high = static_cast<float>(attrs.high), low = static_cast<float>(attrs.low);
  p.task.p2 = attrs.dtype == f32 ? std::max(low, std::nextafter(high, low)) : std::nextafter(attrs.high, attrs.low);
  return floating_kernel(plan, p, cpu::random_loops().uniform_f32, cpu::random_loops().uniform_f64);
}

Kernel random_normal_cpu(const KernelPlan& plan) {
  return floating_kernel(plan, normal_plan(plan), cpu::random_loops().normal_f32, cpu::random_loops().normal_f64);
}

Kernel random_truncated_normal_cpu(const KernelPlan& plan) {
  return floating_kernel(plan, normal_plan(plan), cpu::random_loops().truncated_f32, cpu::random_loops().truncated_f64);
}

Kernel random_bernoulli_cpu(const KernelPlan& plan) {
  const auto& attrs = plan.attrs<RandomBernoulliAttrs>();
  Plan p = make_random_plan(plan, attrs.key, 4);
  p.task.p0 = std::round(attrs.p * 0x1p31);
  return Kernel([p, loop = cpu::random_loops().bernoulli](const KernelRun& run) {
    fill(run, p, loop, reinterpret_cast<uint8_t*>(run.out<bool>(0).data()));
  });
}

namespace {

__extension__ typedef unsigned __int128 Wide;

// Even in [0, range): the high half of bits * range, drawn again where that would favour some (a low half below
// `uneven`, 2^64 modulo range). A second draw hashes the first, so it needs no counter of its own.
uint64_t below(uint64_t bits, uint64_t range, uint64_t uneven) {
  Wide product = Wide(bits) * range;
  for (uint32_t attempt = 1; static_cast<uint64_t>(product) < uneven; ++attempt) {
    const auto again = Philox::block({static_cast<uint32_t>(bits), static_cast<uint32_t>(bits >> 32), attempt, 0},
                                     {0x6d617274u, 0x656c6c6fu});
    product = Wide(uint64_t{again[1]} << 32 | again[0]) * range;
  }
  return static_cast<uint64_t>(product >> 64);
}

template <class T>
Kernel integers_kernel(const KernelPlan& plan) {
  const auto& attrs = plan.attrs<RandomIntegersAttrs>();
  const Plan p = make_random_plan(plan, attrs.key, 2);
  const uint64_t low = static_cast<uint64_t>(attrs.low), range = static_cast<uint64_t>(attrs.high) - low;
  const uint64_t uneven = -range % range;
  const int64_t count = plan.out[0].shape.num_elements();
  Kernel kernel([=, loop = cpu::random_loops().bits](const KernelRun& run) {
    uint64_t* bits = reinterpret_cast<uint64_t*>(run.scratch);
    fill(run, p, loop, bits);
    T* y = run.out<T>(0).data();
    parallel_for(run.threads, ceil_div(count, kChunkBlocks), [&](int64_t i) {
      for (int64_t j = i * kChunkBlocks; j < std::min(count, (i + 1) * kChunkBlocks); ++j)
        y[j] = static_cast<T>(static_cast<int64_t>(low + below(bits[j], range, uneven)));
    });
  });
  return kernel.scratch(checked_mul(count, sizeof(uint64_t)));
}

}  // namespace

Kernel random_integers_cpu(const KernelPlan& plan) {
  return plan.out[0].dtype == i32 ? integers_kernel<int32_t>(plan) : integers_kernel<int64_t>(plan);
}

Kernel random_permutation_cpu(const KernelPlan& plan) {
  const Plan p = make_random_plan(plan, plan.attrs<RandomPermutationAttrs>().key, 2);
  const int64_t n = plan.out[0].shape[0];
  Kernel kernel([=, loop = cpu::random_loops().bits](const KernelRun& run) {
    uint64_t* keys = reinterpret_cast<uint64_t*>(run.scratch);
    fill(run, p, loop, keys);
    int64_t* y = run.out<int64_t>(0).data();
    for (int64_t i = 0; i < n; ++i) y[i] = i;
    std::sort(y, y + n, [&](int64_t a, int64_t b) { return keys[a] != keys[b] ? keys[a] < keys[b] : a < b; });
  });
  return kernel.scratch(checked_mul(n, sizeof(uint64_t)));
}

namespace {

// Inverts the distribution function of one row: `sums` takes the running sum of exp(logits - max).
template <class T>
void draw_classes(const T* logits, int64_t classes, double* sums, const uint64_t* bits, int64_t samples, int64_t* y) {
  const double top = *std::max_element(logits, logits + classes);
  double sum = 0;
  for (int64_t c = 0; c < classes; ++c) sums[c] = sum += std::exp(static_cast<double>(logits[c]) - top);
  for (int64_t s = 0; s < samples; ++s) {
    const double u = static_cast<double>(bits[s] >> 11) * 0x1p-53 * sum;
    y[s] = std::min<int64_t>(std::upper_bound(sums, sums + classes, u) - sums, classes - 1);
  }
}

template <class T>
Kernel categorical_kernel(const KernelPlan& plan) {
  const Plan planned = make_random_plan(plan, plan.attrs<RandomCategoricalAttrs>().key, 2);
  const int64_t samples = plan.out[0].shape[1], classes = plan.in[1].shape[1];
  const int64_t bits_bytes = checked_mul(plan.out[0].shape.num_elements(), sizeof(uint64_t));
  Kernel kernel([=, loop = cpu::random_loops().bits](const KernelRun& run) {
    Plan p = planned;
    const int64_t rows = run.in_rows(1);
    p.blocks = rows * ceil_div(samples, 2);
    uint64_t* bits = reinterpret_cast<uint64_t*>(run.scratch);
    double* sums = reinterpret_cast<double*>(run.scratch + bits_bytes);
    fill(run, p, loop, bits);
    const T* logits = run.in<T>(1).data();
    int64_t* y = run.out<int64_t>(0).data();
    run.set_out_rows(0, rows);
    parallel_for(run.threads, rows, [&](int64_t i) {
      draw_classes(logits + i * classes, classes, sums + i * classes, bits + i * samples, samples, y + i * samples);
    });
  });
  return kernel.scratch(checked_add(bits_bytes, checked_mul(plan.in[1].shape.num_elements(), sizeof(double))));
}

}  // namespace

Kernel random_categorical_cpu(const KernelPlan& plan) {
  return plan.in[1].dtype == f32 ? categorical_kernel<float>(plan) : categorical_kernel<double>(plan);
}

}  // namespace martello
