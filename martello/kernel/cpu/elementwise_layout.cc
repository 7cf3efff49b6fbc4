#include <martello/base/error.h>
#include <martello/kernel/cpu/elementwise_layout.h>

#include <algorithm>

namespace martello::cpu {
namespace {

// Runs shorter than this are joined into tiles. So are longer ones that end between blocks, where there are many.
constexpr int64_t kShortRun = 256, kBlock = 128, kManyRuns = 16;

struct Dim {
  int64_t size;
  std::vector<int64_t> strides;  // of each input; 0 where it is broadcast
};

std::vector<int64_t> broadcast_strides(const Shape& out, const Shape& in, size_t index) {
  const int shift = out.rank() - in.rank();
  std::vector<int64_t> strides(static_cast<size_t>(out.rank()), 0);
  int64_t stride = 1;
  for (int d = in.rank() - 1; d >= 0 && shift >= 0; --d) {
    MARTELLO_CHECK(in[d] == out[d + shift] || in[d] == 1, "[elementwise] input ", index, " of shape ", in,
                   " does not broadcast to ", out, ".");
    if (in[d] != 1) strides[static_cast<size_t>(d + shift)] = stride;
    stride *= in[d];
  }
  MARTELLO_CHECK(shift >= 0, "[elementwise] input ", index, " of shape ", in, " has more dimensions than ", out, ".");
  return strides;
}

bool joins(const Dim& outer, const Dim& inner) {
  for (size_t k = 0; k < outer.strides.size(); ++k) {
    if (outer.strides[k] != inner.strides[k] * inner.size) return false;
  }
  return true;
}

// As few dimensions as describe the same accesses.
std::vector<Dim> collapsed(const Shape& out, std::span<const Shape> inputs) {
  std::vector<std::vector<int64_t>> strides;
  for (size_t k = 0; k < inputs.size(); ++k) strides.push_back(broadcast_strides(out, inputs[k], k));
  std::vector<Dim> dims;
  for (int d = 0; d < out.rank(); ++d) {
    if (out[d] == 1) continue;
    Dim dim{out[d], {}};
    for (const auto& s : strides) dim.strides.push_back(s[static_cast<size_t>(d)]);
    if (!dims.empty() && joins(dims.back(), dim)) {
      dim.size *= dims.back().size;
      dims.pop_back();
    }
    dims.push_back(std::move(dim));
  }
  if (dims.empty()) dims.push_back({1, std::vector<int64_t>(inputs.size(), 1)});
  return dims;
}

std::vector<int32_t> period_offsets(std::span<const Dim> dims, size_t input) {
  std::vector<int32_t> offsets = {0};
  for (const Dim& dim : dims) {
    std::vector<int32_t> next;
    for (int32_t offset : offsets) {
      for (int64_t i = 0; i < dim.size; ++i) next.push_back(offset + static_cast<int32_t>(i * dim.strides[input]));
    }
    offsets = std::move(next);
  }
  return offsets;
}

InputKind kind_of(int64_t step, const std::vector<int32_t>& offsets) {
  bool all_zero = true, in_order = step == static_cast<int64_t>(offsets.size());
  for (size_t i = 0; i < offsets.size(); ++i) {
    all_zero = all_zero && offsets[i] == 0;
    in_order = in_order && offsets[i] == static_cast<int32_t>(i);
  }
  if (in_order) return InputKind::dense;
  if (all_zero) return step == 0 ? InputKind::fixed : InputKind::repeat;
  return step == 0 ? InputKind::periodic : InputKind::gather;
}

// The dimension that runs go along: what lies inside it is one period. Never below 0, whose size may change.
size_t run_dimension(const std::vector<Dim>& dims) {
  size_t run = dims.size() - 1;
  if (run == 0) return run;
  const bool joins_well = dims[run].size <= kTileElements && dims[run].size % kBlock && dims[run - 1].size >= kManyRuns;
  if (dims[run].size >= kShortRun && !joins_well) return run;
  int64_t period = dims[run--].size;
  while (run > 0 && period * dims[run].size <= kTileElements) period *= dims[run--].size;
  return run;
}

}  // namespace

ElementwiseLayout make_layout(const ElementwiseProgram& program, const Shape& out, std::span<const Shape> inputs) {
  MARTELLO_CHECK(inputs.size() == program.input_dtypes.size(), "[elementwise] ", inputs.size(), " shapes for ",
                 program.input_dtypes.size(), " inputs.");
  MARTELLO_CHECK(out.rank() <= kMaxRank, "[elementwise] ", out, " has more than ", kMaxRank, " dimensions.");
  const std::vector<Dim> dims = collapsed(out, inputs);
  ElementwiseLayout layout;
  if (out.num_elements() == 0) {  // nothing is ever read
    layout.inputs.resize(inputs.size());
    layout.offsets.resize(inputs.size());
    return layout;
  }
  const size_t run = run_dimension(dims);
  const std::span<const Dim> inner = std::span(dims).subspan(run + 1);
  for (const Dim& dim : inner) layout.period *= dim.size;
  for (size_t d = 0; d < run; ++d) layout.outer_sizes.push_back(dims[d].size);
  if (run > 0) layout.run = dims[run].size * layout.period;
  for (size_t k = 0; k < inputs.size(); ++k) {
    layout.offsets.push_back(period_offsets(inner, k));
    InputPlan plan;
    plan.element_bytes = size_of(program.input_dtypes[k]);
    plan.step = dims[run].strides[k];
    plan.kind = kind_of(plan.step, layout.offsets[k]);
    for (size_t d = 0; d < run; ++d) plan.strides[d] = dims[d].strides[k];
    layout.tiled = layout.tiled || (plan.kind != InputKind::dense && plan.kind != InputKind::fixed);
    layout.inputs.push_back(plan);
  }
  for (size_t k = 0; k < inputs.size(); ++k) layout.inputs[k].offsets = layout.offsets[k].data();
  return layout;
}

}  // namespace martello::cpu
