#pragma once
#include <martello/graph/op_def.h>
#include <martello/tensor/host_tensor.h>

#include <algorithm>
#include <vector>

namespace martello::testing {

struct KernelOptions {
  int threads = 1;
  RunParams params = {};
};

// One run of an op's CPU kernel on these inputs, without graph and session: shape function, plan, bind, run. Outputs
// and scratch start as garbage.
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
  HostTensors out;
  for (const TensorSpec& spec : outs) {
    out.emplace_back(spec.shape, spec.dtype);
    HostTensor& t = out.back();
    std::byte* bytes = t.mutable_raw();
    for (int64_t j = 0; j < t.num_bytes(); ++j) bytes[j] = std::byte{0xa5};
    outputs.push_back({bytes, t.num_elements(), spec.shape.rank() > 0 ? spec.shape[0] : 1});
  }
  const Kernel kernel = def.cpu(KernelPlan{op, specs, outs, &attrs, options.threads});
  Buffer scratch(std::max<int64_t>(kernel.scratch_bytes(), 1));
  const KernelRun run{inputs.data(), outputs.data(), scratch.data(), &options.params, options.threads};
  kernel.bind(run)(run);
  return out;
}

}  // namespace martello::testing
