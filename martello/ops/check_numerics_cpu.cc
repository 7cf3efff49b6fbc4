#include <martello/base/checked.h>
#include <martello/base/error.h>
#include <martello/base/threads.h>
#include <martello/ops/check_numerics.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>

namespace martello {
namespace {

// Bits of the exponent, all of which are set in NaN and infinity.
inline bool is_bad(float v) {
  uint32_t bits;
  std::memcpy(&bits, &v, sizeof bits);
  return (bits & 0x7f800000u) == 0x7f800000u;
}
inline bool is_bad(double v) {
  uint64_t bits;
  std::memcpy(&bits, &v, sizeof bits);
  return (bits & 0x7ff0000000000000u) == 0x7ff0000000000000u;
}

template <class T>
bool has_bad(const T* x, int64_t count, int threads) {
  constexpr int64_t kChunk = 16384;
  std::atomic<bool> is_found = false;
  parallel_for(threads, ceil_div(count, kChunk), [&](int64_t c) {
    bool found = false;
    for (int64_t i = c * kChunk; i < std::min(count, (c + 1) * kChunk); ++i) found |= is_bad(x[i]);
    if (found) is_found.store(true, std::memory_order_relaxed);
  });
  return is_found.load();
}

// [1, 2] for element 5 of [2, 3].
std::string index_text(const Shape& shape, int64_t i) {
  std::vector<std::string> parts(static_cast<size_t>(shape.rank()));
  for (int d = shape.rank(); d-- > 0; i /= std::max<int64_t>(shape[d], 1))
    parts[static_cast<size_t>(d)] = str(d == 0 ? i : i % shape[d]);
  return str("[", join(parts), "]");
}

template <class T>
[[noreturn]] void report(const T* x, int64_t count, const TensorSpec& spec, const std::string& where) {
  int64_t nans = 0, infs = 0, first = -1;
  for (int64_t i = 0; i < count; ++i) {
    if (!is_bad(x[i])) continue;
    if (first < 0) first = i;
    (std::isnan(x[i]) ? nans : infs) += 1;
  }
  throw InvalidArgument(str(where, nans, " NaN and ", infs, " Inf of ", count, " elements; the first, ",
                            std::isnan(x[first]) ? "NaN"
                            : x[first] > 0       ? "Inf"
                                                 : "-Inf",
                            ", at index ", index_text(spec.shape, first), " of shape ", spec.shape, "."));
}

template <class T>
Kernel check_kernel(const KernelPlan& plan, const std::string& where) {
  return Kernel([where, spec = plan.in[0]](const KernelRun& run) {
    const auto x = run.in<T>(0);
    const int64_t count = run.in_[0].count;
    if (has_bad(x.data(), count, run.threads)) report(x.data(), count, spec, where);
    if (run.out_[0].data != run.in_[0].data && count > 0) std::memcpy(run.out_[0].data, x.data(), x.size_bytes());
  });
}

}  // namespace

Kernel check_numerics_cpu(const KernelPlan& plan) {
  const std::string& message = plan.attrs<CheckNumericsAttrs>().message;
  const std::string where = str(plan.op.where(), message, message.empty() ? "" : ": ");
  return plan.in[0].dtype == f32 ? check_kernel<float>(plan, where) : check_kernel<double>(plan, where);
}

}  // namespace martello
