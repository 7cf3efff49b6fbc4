#include <martello/kernel/cpu/isa.h>
#include <martello/ops/internal/attention_plan.h>

namespace martello {

Kernel attention_cpu(const KernelPlan&);

namespace cpu {
template <>
const AttentionLoops<float>& attention_loops<float>() {
  return of_host_isa(v2::attention_loops_f32, v3::attention_loops_f32, v4::attention_loops_f32);
}
template <>
const AttentionLoops<double>& attention_loops<double>() {
  return of_host_isa(v2::attention_loops_f64, v3::attention_loops_f64, v4::attention_loops_f64);
}
}  // namespace cpu

namespace {

using internal::AttentionPlan;
using internal::PackedRows;
using internal::PlainProduct;

constexpr int64_t kKeys = 256;  // of a block: its scores stay in the second cache

// One block of queries over blocks of keys, by a softmax that corrects itself as larger scores come.
template <class T>
void attend(const AttentionPlan& p, const PackedRows<T>& k, const KernelRun& run, int64_t batch, int64_t query) {
  alignas(64) T tile[AttentionPlan::kQueries * kKeys];
  T max[AttentionPlan::kQueries] = {}, sum[AttentionPlan::kQueries] = {};
  const int64_t rows = std::min(AttentionPlan::kQueries, p.queries - query), at = batch * p.queries + query;
  const T *q = run.in<T>(0).data() + at * p.width, *v = run.in<T>(2).data() + batch * p.keys * p.values;
  T* y = run.out<T>(0).data() + at * p.values;
  const int64_t seen = p.seen_by(query, rows);
  for (int64_t key = 0; key < seen; key += kKeys) {
    const int64_t count = std::min(kKeys, seen - key);
    k.multiply(q, rows, reinterpret_cast<const T*>(run.scratch), batch, key, count, tile, kKeys);
    cpu::attention_loops<T>().add_block(p.scores(run, batch, query, rows, key, count, tile, kKeys), max, sum, y,
                                        p.values, key == 0);
    PlainProduct<T>{tile, kKeys, 1, rows, count, v + key * p.values, p.values, y, key > 0}.run();
  }
  cpu::attention_loops<T>().finish(max, sum, y, run.out<T>(1).data() + at, rows, p.values);
}

// Queries that have no keys.
template <class T>
void give_nothing(const KernelRun& run) {
  std::fill_n(run.out<T>(0).data(), run.out_[0].count, T{0});
  std::fill_n(run.out<T>(1).data(), run.out_[1].count, std::numeric_limits<T>::infinity());
}

template <class T>
Kernel attention_kernel(const KernelPlan& plan) {
  const AttentionPlan p(plan, 3);
  if (p.is_empty()) return Kernel([](const KernelRun& run) { give_nothing<T>(run); });
  const PackedRows<T> k(p, p.width);
  Kernel kernel([p, k](const KernelRun& run) {
    k.pack(run.threads, run.in<T>(1).data(), reinterpret_cast<T*>(run.scratch));
    const int64_t blocks = p.query_blocks();
    parallel_for(run.threads, p.batches * blocks, [&](int64_t i) {
      attend(p, k, run, i / blocks, internal::early_and_late(i % blocks, blocks) * AttentionPlan::kQueries);
    });
  });
  return kernel.scratch(checked_mul(k.elements(), sizeof(T)));
}

}  // namespace

Kernel attention_cpu(const KernelPlan& plan) {
  return plan.in[0].dtype == f32 ? attention_kernel<float>(plan) : attention_kernel<double>(plan);
}

}  // namespace martello
