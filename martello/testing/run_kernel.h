#pragma once
#include <martello/base/error.h>
#include <martello/graph/op_def.h>
#include <martello/tensor/buffer.h>
#include <martello/tensor/host_tensor.h>

#include <algorithm>
#include <vector>

namespace martello::testing {

struct KernelOptions {
  int threads = 1;
  RunParams params = {};
};

// Memory full of garbage. What lies behind it must stay so: sanitizers do not see what a library's own code writes.
class GuardedMemory {
 public:
  explicit GuardedMemory(int64_t bytes) : bytes_(bytes), buffer_(bytes + kGuard) {
    std::fill_n(buffer_.data(), buffer_.size(), kGarbage);
  }
  std::byte* data() const { return buffer_.data(); }
  void check(const OpInfo& op, const char* what) const {
    const std::byte* end = data() + bytes_;
    const bool is_whole = std::all_of(end, end + kGuard, [](std::byte b) { return b == kGarbage; });
    MARTELLO_ASSERT(is_whole, op.where(), "writes beyond its ", what, " of ", bytes_, " bytes.");
  }

 private:
  static constexpr int64_t kGuard = 4096;
  static constexpr std::byte kGarbage{0xa5};
  int64_t bytes_;
  Buffer buffer_;
};

// One run of an op's CPU kernel on these inputs, without graph and session: shape function, plan, bind, run. Outputs
// and scratch start as garbage, and nothing may be written beyond them.
inline HostTensors run_kernel(const OpDef& def, const HostTensors& in, const Attrs& attrs, KernelOptions options = {}) {
  const OpInfo op{"test", def.name};
  std::vector<TensorSpec> specs;
  std::vector<RunTensor> inputs, outputs;
  std::vector<std::vector<int64_t>> elements(in.size());
  std::vector<const std::vector<int64_t>*> values(in.size());
  for (size_t i = 0; i < in.size(); ++i) {
    const HostTensor& t = in[i];
    specs.push_back({t.shape(), t.dtype(), {}, {}});
    inputs.push_back({const_cast<std::byte*>(t.raw()), t.num_elements(), t.shape().rank() > 0 ? t.shape()[0] : 1});
    if (!is_integer(t.dtype()) || t.num_elements() > 64) continue;
    for (int64_t j = 0; j < t.num_elements(); ++j) elements[i].push_back(static_cast<int64_t>(t.at(j)));
    values[i] = &elements[i];
  }
  const auto outs = def.shape(ShapeContext{op, specs, &attrs, values});
  std::vector<GuardedMemory> results;
  for (const TensorSpec& spec : outs) {
    const int64_t count = spec.shape.num_elements();
    results.emplace_back(count * size_of(spec.dtype));
    outputs.push_back({results.back().data(), count, spec.shape.rank() > 0 ? spec.shape[0] : 1});
  }
  const Kernel kernel = def.cpu(KernelPlan{op, specs, outs, &attrs, options.threads});
  const GuardedMemory scratch(kernel.scratch_bytes());
  const KernelRun run{inputs.data(), outputs.data(), scratch.data(), &options.params, options.threads};
  kernel.bind(run)(run);
  scratch.check(op, "scratch");
  HostTensors out;
  for (size_t i = 0; i < outs.size(); ++i) {
    results[i].check(op, "result");
    HostTensor& t = out.emplace_back(outs[i].shape, outs[i].dtype);
    std::copy_n(results[i].data(), t.num_bytes(), t.mutable_raw());
  }
  return out;
}

}  // namespace martello::testing
