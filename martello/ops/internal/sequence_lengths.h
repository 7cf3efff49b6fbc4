#pragma once
#include <martello/base/error.h>
#include <martello/graph/kernel.h>

#include <algorithm>
#include <string>

namespace martello::internal {

// How many steps of each row count, in one run: an input, i32 or i64, or all of them.
class SequenceLengths {
 public:
  SequenceLengths(const KernelPlan& plan, int input, int64_t steps)
      : where_(str("[", plan.op.type, " '", plan.op.name, "'] ")), input_(input), steps_(steps) {
    is_given_ = plan.in.size() > static_cast<size_t>(input);
    if (is_given_) dtype_ = plan.in[static_cast<size_t>(input)].dtype;
  }

  // Throws InvalidArgument with the first length outside [0, steps].
  void check(const KernelRun& run) const {
    for (int64_t i = 0; is_given_ && i < run.in_[input_].count; ++i) {
      const int64_t length = of_row(run, i);
      MARTELLO_CHECK(0 <= length && length <= steps_, where_, "lengths[", i, "] is ", length, " but the sequence has ",
                     steps_, " steps. It must lie in [0, ", steps_, "].");
    }
  }
  bool are_all() const { return !is_given_; }
  int64_t of_row(const KernelRun& run, int64_t row) const {
    if (!is_given_) return steps_;
    const void* data = run.in_[input_].data;
    return dtype_ == i32 ? static_cast<const int32_t*>(data)[row] : static_cast<const int64_t*>(data)[row];
  }

 private:
  std::string where_;
  int input_;
  int64_t steps_;
  bool is_given_ = false;
  DType dtype_ = i32;
};

}  // namespace martello::internal
