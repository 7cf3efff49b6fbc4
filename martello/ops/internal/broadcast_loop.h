#pragma once
#include <martello/base/threads.h>
#include <martello/graph/kernel.h>

#include <algorithm>
#include <array>
#include <vector>

namespace martello {

// Walks a broadcast output in runs along which each input either advances with the output or stands still: the plain
// loop of dtypes and ops that have no vector formula. Neighbouring dimensions that all inputs treat alike are merged.
class BroadcastLoop {
 public:
  static constexpr size_t kMaxInputs = 3;
  using Offsets = std::array<int64_t, kMaxInputs>;

  // Of all inputs against output 0.
  explicit BroadcastLoop(const KernelPlan& plan);

  // 1 when input i advances along a run, 0 when it stands still.
  int64_t step(size_t i) const { return dims_[0].strides[i]; }

  // Calls body(first element of the output, first elements of the inputs, count) for runs that cover the output, as
  // many rows of it as this run has.
  template <class F>
  void run(const KernelRun& run, const F& body) const {
    const int64_t total = run.out_[0].count;
    parallel_for(run.threads, (total + kChunk - 1) / kChunk,
                 [&](int64_t i) { walk(i * kChunk, std::min(total, (i + 1) * kChunk), body); });
  }

 private:
  static constexpr int64_t kChunk = 16384;
  static constexpr int64_t kEndless = int64_t{1} << 62;
  struct Dim {
    int64_t size = 1;
    Offsets strides = {};  // elements, per input; 0 where it is broadcast
  };

  void add_dim(const Dim& dim);
  Offsets offsets_of(int64_t element) const;
  template <class F>
  void walk(int64_t first, int64_t last, const F& body) const {
    while (first < last) {
      const int64_t inner = first % dims_[0].size, count = std::min(last - first, dims_[0].size - inner);
      body(first, offsets_of(first), count);
      first += count;
    }
  }

  std::vector<Dim> dims_;  // innermost first; the outermost is endless, as its size is known at run time
};

}  // namespace martello
