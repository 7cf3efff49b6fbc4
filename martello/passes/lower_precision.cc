// Products of bf16 numbers, when the session asked for them and the op can (OpDef::widened); sums and results stay f32:
//   %y = matmul(%a, %b)  =>  %p = cast(%a) {dtype=bf16}  %q = cast(%b) {dtype=bf16}  %y = matmul(%p, %q) {widen=true}
// A batch norm reads a convolution of them as bf16, and so does its gradient, each of them twice:
//   %n = batch_norm_training(%y, ...)  =>  %r = cast(%y) {dtype=bf16}  %n = batch_norm_training(%r, ...) {widen=true}
#include <martello/base/error.h>
#include <martello/base/log.h>
#include <martello/kernel/cpu/onednn.h>
#include <martello/ops/batch_norm.h>
#include <martello/ops/cast.h>
#include <martello/ops/internal/conv_attrs.h>
#include <martello/passes/internal/precision_level.h>
#include <martello/passes/internal/rewrite.h>

#include <atomic>
#include <optional>
#include <unordered_map>

namespace martello {

const char* to_string(Precision precision) { return precision == Precision::bf16 ? "bf16" : "f32"; }

void check_precision(Precision precision) {
  internal::check_precision(precision, cpu::host_isa(), onednn::bf16_support());
}

void internal::check_precision(Precision precision, cpu::Isa level, onednn::Bf16 library) {
  if (precision == Precision::f32) return;
  MARTELLO_CHECK(level == cpu::Isa::v4,
                 "[session] precision bf16 needs a processor with AVX-512 (x86-64-v4) but runs at ", "level x86-64-",
                 cpu::to_string(level), ". Use Precision::f32, or another machine.");
  MARTELLO_CHECK(library != onednn::Bf16::none, "[session] precision bf16 needs AVX-512 but ", onednn::version(),
                 " was told to do without. Unset ONEDNN_MAX_CPU_ISA and DNNL_MAX_CPU_ISA, or use Precision::f32.");
  static std::atomic_flag is_told;
  if (library == onednn::Bf16::emulated && !is_told.test_and_set())
    logger::warn("[session] precision bf16 is slower than f32 here: without AVX512_BF16 ", onednn::version(),
                 " emulates it. (Told once.)");
}

namespace {

// Measured: from here on the library gains twice what the casts cost, on one thread with AVX512_BF16.
constexpr double kWorkPerNumber = 16;

// The attributes with which a node takes bf16 factors; none where it cannot, or gains nothing.
std::optional<Attrs> find_widened(const OpNode& node, int threads) {
  if (!node.def->widened || node.inputs[0].dtype() != f32 || node.inputs[1].dtype() != f32) return std::nullopt;
  std::vector<TensorSpec> in, out = {node.outputs[0].spec()};
  for (const Tensor& t : node.inputs) {
    if (!t.shape().is_known()) return std::nullopt;
    in.push_back({t.shape(), t.dtype(), {}, {}});
  }
  if (!out[0].shape.is_known()) return std::nullopt;
  double numbers = 0;
  for (size_t i = 0; i < 2; ++i) numbers += static_cast<double>(in[i].shape.num_elements());
  if (node.def->cost(in, out, node.attrs).flops / 2 < kWorkPerNumber * numbers) return std::nullopt;
  return node.def->widened({.op = node.info(), .in = in, .out = out, .attributes = &node.attrs, .threads = threads});
}

bool is_widened_conv(Tensor t) {
  return t.node()->def == &op_conv2d && t.node()->attrs.get<internal::ConvOpAttrs>().widen && t.dtype() == f32;
}

class PrecisionPass {
 public:
  explicit PrecisionPass(PlanGraph& plan) : rewrite_(plan), threads_(plan.threads) {}

  // Whether the node was changed.
  bool visit(OpNode& node) {
    if (node.def == &op_batch_norm_training || node.def == &op_batch_norm_training_grad) return visit_norm(node);
    auto attrs = find_widened(node, threads_);
    if (!attrs) return false;
    std::vector<Tensor> inputs = node.inputs;
    for (size_t i = 0; i < 2; ++i) inputs[i] = narrowed(inputs[i]);
    return rewrite_.become(node, *node.def, std::move(inputs), std::move(*attrs));
  }

 private:
  bool visit_norm(OpNode& node) {
    BatchNormAttrs attrs = node.attrs.get<BatchNormAttrs>();
    if (attrs.data_format != DataFormat::nhwc || !is_widened_conv(node.inputs[0])) return false;
    attrs.widen = true;
    std::vector<Tensor> inputs = node.inputs;
    inputs[0] = narrowed(inputs[0]);
    return rewrite_.become(node, *node.def, std::move(inputs), Attrs(attrs));
  }

  // One cast per tensor, where the tensor is made.
  Tensor narrowed(Tensor t) {
    auto& list = casts_[t.node()->id];
    for (OpNode* made : list)
      if (made->inputs[0] == t) return made->output(0);
    const Tensor cast = rewrite_.add(*t.node(), "bf16", op_cast, {t}, Attrs(CastAttrs{bf16}));
    list.push_back(cast.node());
    return cast;
  }

  internal::Rewrite rewrite_;
  int threads_;
  std::unordered_map<int64_t, std::vector<OpNode*>> casts_;  // by the node of the tensor
};

}  // namespace

bool lower_precision(PlanGraph& plan) {
  if (plan.precision == Precision::f32) return false;
  PrecisionPass pass(plan);
  bool changed = false;
  for (OpNode* node : topological_order(plan.impl())) changed |= pass.visit(*node);
  return changed;
}

}  // namespace martello
