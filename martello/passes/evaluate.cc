#include <martello/base/error.h>
#include <martello/graph/core_ops.h>
#include <martello/passes/internal/fold.h>
#include <martello/passes/plan_graph.h>

#include <algorithm>
#include <limits>

namespace martello::internal {
namespace {

constexpr int64_t kMostBytes = 1 << 20;
// Of a value that needs no input: made by the run just as well.
constexpr int64_t kMostBytesFromNothing = 4096;

int64_t bytes_of(const NodeOutput& output) { return output.shape.num_elements() * size_of(output.dtype); }

bool is_small_enough(const OpNode& node) {
  int64_t in = 0, out = 0;
  for (const Tensor& t : node.inputs) in += bytes_of(output_of(t));
  for (const NodeOutput& output : node.outputs) out += bytes_of(output);
  return out <= (node.inputs.empty() ? kMostBytesFromNothing : std::max(kMostBytes, in));
}

bool can_evaluate(const OpNode& node) {
  const bool is_on_cpu = node.device.empty() || Device::parse(node.device).kind == DeviceKind::cpu;
  if (!is_pure(node) || node.def == &op_constant || node.outputs.empty() || !node.def->cpu || !is_on_cpu) return false;
  if (!std::all_of(node.inputs.begin(), node.inputs.end(), [](const Tensor& t) { return find_constant(t); }))
    return false;
  const auto is_fixed = [](const NodeOutput& o) { return o.shape.is_known() && !o.has_dynamic_rows; };
  return std::all_of(node.outputs.begin(), node.outputs.end(), is_fixed) && is_small_enough(node) &&
         !has_subgraph(node);
}

RunTensor run_tensor(const HostTensor& t, const std::byte* data) {
  return {const_cast<std::byte*>(data), t.num_elements(), t.shape().rank() > 0 ? t.shape()[0] : 1};
}

bool fits(int64_t value, DType dtype) {
  if (dtype == i32) return value <= std::numeric_limits<int32_t>::max();
  return dtype == i64 || value <= std::numeric_limits<uint8_t>::max();
}

}  // namespace

HostTensors run_on_cpu(const OpNode& node, const HostTensors& inputs) {
  std::vector<TensorSpec> in, out;
  std::vector<RunTensor> in_data, out_data;
  HostTensors values;
  for (const HostTensor& value : inputs) {
    in.push_back({.shape = value.shape(), .dtype = value.dtype()});
    in_data.push_back(run_tensor(value, value.raw()));
  }
  for (const NodeOutput& output : node.outputs) {
    out.push_back(output.spec());
    HostTensor& value = values.emplace_back(output.shape, output.dtype);
    out_data.push_back(run_tensor(value, value.mutable_raw()));
  }
  if (gives_nothing(node)) return values;
  const Kernel kernel = node.def->cpu({.op = node.info(), .in = in, .out = out, .attributes = &node.attrs});
  HostTensor scratch(Shape(kernel.scratch_bytes()), u8);
  RunParams params;
  const KernelRun run{in_data.data(), out_data.data(), scratch.mutable_raw(), &params, 1};
  kernel.bind(run)(run);
  return values;
}

HostTensors evaluate(const OpNode& node) {
  if (!can_evaluate(node)) return {};
  if (node.def->is_alias && node.outputs[0].dtype == node.inputs[0].dtype())
    return {find_constant(node.inputs[0])->reshaped(node.outputs[0].shape)};
  HostTensors inputs;
  for (const Tensor& t : node.inputs) inputs.push_back(*find_constant(t));
  try {
    return run_on_cpu(node, inputs);
  } catch (const InvalidArgument&) {
    return {};
  }
}

std::optional<HostTensor> known_elements(const NodeOutput& output) {
  // A negative element may stand for an unknown size.
  const auto is_known = [&](int64_t v) { return v >= 0 && fits(v, output.dtype); };
  if (!output.value || !output.shape.is_known() || !is_integer(output.dtype)) return std::nullopt;
  const std::vector<int64_t>& elements = *output.value;
  if (static_cast<int64_t>(elements.size()) != output.shape.num_elements()) return std::nullopt;
  if (!std::all_of(elements.begin(), elements.end(), is_known)) return std::nullopt;
  HostTensor value(output.shape, output.dtype);
  visit_dtype(output.dtype, [&]<class T>(T) {
    if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
      std::transform(elements.begin(), elements.end(), value.mutable_data<T>().begin(),
                     [](int64_t v) { return static_cast<T>(v); });
    }
  });
  return value;
}

}  // namespace martello::internal
