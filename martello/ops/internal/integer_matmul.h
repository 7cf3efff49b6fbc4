#pragma once
#include <martello/base/checked.h>
#include <martello/base/threads.h>
#include <martello/ops/internal/matmul_plan.h>

#include <algorithm>
#include <type_traits>

namespace martello::internal {

// Products and sums wrap around, like all integers here.
template <class T>
class IntegerMatmul {
 public:
  IntegerMatmul(const MatmulSizes& sizes, const MatmulFlags& flags) : sizes_(sizes), flags_(flags) {}
  int64_t scratch_bytes() const { return 0; }
  void run(const KernelRun& run, int64_t k) const {
    const int64_t m = sizes_.m, n = sizes_.n;
    parallel_for(run.threads, sizes_.batches * ceil_div(m, kRows), [&](int64_t chunk) {
      const auto at = sizes_.offsets(chunk / ceil_div(m, kRows));
      const T *a = run.in<T>(0).data() + at.a, *b = run.in<T>(1).data() + at.b;
      T* y = run.out<T>(0).data() + at.y;
      const int64_t first = chunk % ceil_div(m, kRows) * kRows;
      for (int64_t i = first; i < std::min(m, first + kRows); ++i)
        for (int64_t j = 0; j < n; ++j) {
          Unsigned sum = 0;
          for (int64_t p = 0; p < k; ++p)
            sum += static_cast<Unsigned>(a[flags_.transpose_a ? p * m + i : i * k + p]) *
                   static_cast<Unsigned>(b[flags_.transpose_b ? j * k + p : p * n + j]);
          y[i * n + j] = static_cast<T>(sum);
        }
    });
  }

 private:
  using Unsigned = std::make_unsigned_t<T>;
  static constexpr int64_t kRows = 16;
  MatmulSizes sizes_;
  MatmulFlags flags_;
};

}  // namespace martello::internal
