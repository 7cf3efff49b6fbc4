#include <martello/ops/internal/attention_plan.h>

namespace martello {

Kernel attention_grad_cpu(const KernelPlan&);

namespace {

using internal::AttentionPlan;
using internal::early_and_late;
using internal::PackedRows;
using internal::PlainProduct;

constexpr int64_t kQueries = AttentionPlan::kQueries;
constexpr int64_t kKeys = 128;  // of a block

// Which gradients a pair of blocks adds to.
struct Wanted {
  bool of_queries, of_keys;
};

template <class T>
class Backward {
 public:
  Backward(const AttentionPlan& p, const PackedRows<T>& k, const PackedRows<T>& v, const KernelRun& run)
      : p_(p),
        k_(k),
        v_(v),
        run_(run),
        packed_k_(reinterpret_cast<T*>(run.scratch)),
        packed_v_(packed_k_ + k.elements()) {}

  // With fewer batches than threads could share, queries and keys get a pass each, which computes the scores twice.
  void all() {
    k_.pack(run_.threads, in(1), packed_k_);
    v_.pack(run_.threads, in(2), packed_v_);
    const int64_t of_queries = p_.query_blocks(), of_keys = ceil_div(p_.keys, kKeys);
    if (run_.threads == 1 || p_.batches >= 4 * run_.threads)
      return parallel_for(run_.threads, p_.batches, [&](int64_t b) { batch(b); });
    parallel_for(run_.threads, p_.batches * of_keys,
                 [&](int64_t i) { keys(i / of_keys, early_and_late(i % of_keys, of_keys) * kKeys); });
    parallel_for(run_.threads, p_.batches * of_queries,
                 [&](int64_t i) { queries(i / of_queries, early_and_late(i % of_queries, of_queries) * kQueries); });
  }

 private:
  const T* in(int i) const { return run_.in<T>(i).data(); }
  T* out(int i) const { return run_.out<T>(i).data(); }

  void batch(int64_t b) const {
    for (int64_t key = 0; key < p_.keys; key += kKeys) clear_keys(b, key);
    for (int64_t query = 0; query < p_.queries; query += kQueries) {
      clear_queries(b, query);
      for (int64_t key = 0; key < p_.keys; key += kKeys) pair(b, query, key, {true, true});
    }
  }
  void keys(int64_t b, int64_t key) const {
    clear_keys(b, key);
    for (int64_t query = 0; query < p_.queries; query += kQueries) pair(b, query, key, {false, true});
  }
  void queries(int64_t b, int64_t query) const {
    clear_queries(b, query);
    for (int64_t key = 0; key < p_.keys; key += kKeys) pair(b, query, key, {true, false});
  }
  void clear_keys(int64_t b, int64_t key) const {
    const int64_t count = std::min(kKeys, p_.keys - key), at = b * p_.keys + key;
    std::fill_n(out(1) + at * p_.width, count * p_.width, T{0});
    std::fill_n(out(2) + at * p_.values, count * p_.values, T{0});
  }
  void clear_queries(int64_t b, int64_t query) const {
    const int64_t rows = std::min(kQueries, p_.queries - query);
    std::fill_n(out(0) + (b * p_.queries + query) * p_.width, rows * p_.width, T{0});
  }

  // What a block of queries and a block of keys add to each other's gradients.
  void pair(int64_t b, int64_t query, int64_t key, Wanted wanted) const {
    alignas(64) T p[kQueries * kKeys];
    alignas(64) T ds[kQueries * kKeys];
    const int64_t rows = std::min(kQueries, p_.queries - query), of_query = b * p_.queries + query;
    const int64_t count = std::min(kKeys, p_.seen_by(query, rows) - key), of_key = b * p_.keys + key;
    if (count <= 0) return;
    const T *q = in(0) + of_query * p_.width, *dy = in(5) + of_query * p_.values;
    k_.multiply(q, rows, packed_k_, b, key, count, p, kKeys);
    v_.multiply(dy, rows, packed_v_, b, key, count, ds, kKeys);
    T dot[kQueries];
    cpu::attention_loops<T>().dots(dy, in(3) + of_query * p_.values, rows, p_.values, dot);
    cpu::attention_loops<T>().gradient(p_.scores(run_, b, query, rows, key, count, p, kKeys), in(4) + of_query, dot,
                                       ds);
    const T* k = in(1) + of_key * p_.width;
    if (wanted.of_queries) product(ds, kKeys, 1, rows, count, k, p_.width, out(0) + of_query * p_.width);
    if (!wanted.of_keys) return;
    product(ds, 1, kKeys, count, rows, q, p_.width, out(1) + of_key * p_.width);
    product(p, 1, kKeys, count, rows, dy, p_.values, out(2) + of_key * p_.values);
  }

  static void product(const T* a, int64_t a_row, int64_t a_column, int64_t rows, int64_t k, const T* b, int64_t columns,
                      T* y) {
    PlainProduct<T>{a, a_row, a_column, rows, k, b, columns, y, true}.run();
  }

  const AttentionPlan& p_;
  const PackedRows<T>&k_, &v_;
  const KernelRun& run_;
  T *packed_k_, *packed_v_;
};

template <class T>
Kernel grad_kernel(const KernelPlan& plan) {
  const AttentionPlan p(plan, 6);
  if (p.is_empty())
    return Kernel([](const KernelRun& run) {
      for (int i = 0; i < 3; ++i) std::fill_n(run.out<T>(i).data(), run.out_[i].count, T{0});
    });
  const PackedRows<T> k(p, p.width), v(p, p.values);
  Kernel kernel([p, k, v](const KernelRun& run) { Backward<T>(p, k, v, run).all(); });
  return kernel.scratch(checked_mul(checked_add(k.elements(), v.elements()), sizeof(T)));
}

}  // namespace

Kernel attention_grad_cpu(const KernelPlan& plan) {
  return plan.in[0].dtype == f32 ? grad_kernel<float>(plan) : grad_kernel<double>(plan);
}

}  // namespace martello
