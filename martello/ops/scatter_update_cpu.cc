#include <martello/base/error.h>
#include <martello/base/threads.h>
#include <martello/ops/scatter_update.h>

#include <cstring>

namespace martello {
namespace {

enum class Update { add, sub, assign };

// Sums of 16-bit numbers are made in float; integers wrap around.
template <class T, Update kUpdate>
T updated(T old, T value) {
  if constexpr (kUpdate == Update::assign || std::is_same_v<T, bool>) {
    return value;
  } else if constexpr (std::is_integral_v<T>) {
    using U = std::make_unsigned_t<T>;
    return static_cast<T>(kUpdate == Update::add ? static_cast<U>(old) + static_cast<U>(value)
                                                 : static_cast<U>(old) - static_cast<U>(value));
  } else {
    return static_cast<T>(kUpdate == Update::add ? old + value : old - value);
  }
}

// Rows are dealt to chunks by number, so that one chunk sees all indices of a row, in order.
constexpr int64_t kChunks = 16;
constexpr int64_t kFewBytes = 64;  // of a row: below, looking at all indices in each chunk costs more than it saves

template <class I>
void check_indices_of(std::string_view where, std::span<const I> indices, int64_t limit) {
  for (size_t i = 0; i < indices.size(); ++i)
    MARTELLO_CHECK(indices[i] >= 0 && static_cast<int64_t>(indices[i]) < limit, where, "indices[", i, "] is ",
                   indices[i], ", outside [0, ", limit, "). Every index names a row that exists.");
}

// Indices are checked in the compute phase already, unless the graph was put together by hand; before the first write
// here too.
template <class T, class I, Update kUpdate>
void scatter_rows(const KernelRun& run, const std::string& where, int64_t rows, int64_t inner, bool is_scalar) {
  check_indices_of<I>(where, run.in<I>(1), rows);
  T* v = static_cast<T*>(run.in_[0].data);
  const auto indices = run.in<I>(1);
  const T* values = run.in<T>(2).data();
  const int64_t n = static_cast<int64_t>(indices.size());
  MARTELLO_CHECK(is_scalar || run.in_[2].count == n * inner, where, "there are ", n, " indices in this run but ",
                 run.in_[2].count, " values for rows of ", inner, ": their sizes depend on different data.");
  const int64_t chunks = inner * static_cast<int64_t>(sizeof(T)) < kFewBytes ? 1 : kChunks;
  parallel_for(run.threads, chunks, [=](int64_t chunk) {
    for (int64_t i = 0; i < n; ++i) {
      const int64_t row = static_cast<int64_t>(indices[static_cast<size_t>(i)]);
      if (row % chunks != chunk) continue;
      T* to = v + row * inner;
      if (is_scalar)
        for (int64_t j = 0; j < inner; ++j) to[j] = updated<T, kUpdate>(to[j], *values);
      else
        for (int64_t j = 0; j < inner; ++j) to[j] = updated<T, kUpdate>(to[j], values[i * inner + j]);
    }
  });
}

template <Update kUpdate>
Kernel scatter_kernel(const KernelPlan& plan) {
  const Shape& v = plan.in[0].shape;
  const int64_t inner = v.num_elements(1, v.rank());
  const int64_t rows = v[0];
  const bool is_scalar = plan.in[2].shape.rank() == 0;
  const std::string where = plan.op.where();
  return visit_dtype(plan.in[0].dtype, [&](auto zero) -> Kernel {
    using T = decltype(zero);
    if (plan.in[1].dtype == i32)
      return [=](const KernelRun& run) { scatter_rows<T, int32_t, kUpdate>(run, where, rows, inner, is_scalar); };
    return [=](const KernelRun& run) { scatter_rows<T, int64_t, kUpdate>(run, where, rows, inner, is_scalar); };
  });
}

template <class I>
Kernel check_kernel(const std::string& where, int64_t limit) {
  return [where, limit](const KernelRun& run) {
    const auto indices = run.in<I>(0);
    check_indices_of<I>(where, indices, limit);
    const auto y = run.out<I>(0);
    if (!indices.empty() && y.data() != indices.data()) std::memcpy(y.data(), indices.data(), indices.size_bytes());
  };
}

}  // namespace

Kernel scatter_add_cpu(const KernelPlan& plan) { return scatter_kernel<Update::add>(plan); }
Kernel scatter_sub_cpu(const KernelPlan& plan) { return scatter_kernel<Update::sub>(plan); }
Kernel scatter_assign_cpu(const KernelPlan& plan) { return scatter_kernel<Update::assign>(plan); }

Kernel check_indices_cpu(const KernelPlan& plan) {
  const std::string where = plan.op.where();
  const int64_t limit = plan.attrs<CheckIndicesAttrs>().limit;
  return plan.in[0].dtype == i32 ? check_kernel<int32_t>(where, limit) : check_kernel<int64_t>(where, limit);
}

}  // namespace martello
