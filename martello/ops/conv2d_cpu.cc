#include <martello/base/checked.h>
#include <martello/base/error.h>
#include <martello/base/threads.h>
#include <martello/graph/kernel_choice.h>
#include <martello/ops/internal/conv_direct.h>
#include <martello/ops/internal/conv_library.h>
#include <martello/ops/internal/conv_loops.h>
#include <martello/ops/internal/conv_product.h>
#include <martello/ops/internal/conv_winograd.h>
#include <martello/ops/internal/gemm_loops.h>
#include <martello/ops/internal/matmul_factors.h>
#include <martello/ops/internal/matmul_plan.h>
#include <martello/tensor/buffer.h>

#include <algorithm>
#include <array>

namespace martello {
namespace {

using internal::ConvDirection;
using internal::ConvOpAttrs;
using internal::ConvProblem;
using internal::ConvTask;
using onednn::Layout;
using onednn::Primitive;

struct ConvPlan {
  const KernelPlan& plan;
  const ConvOpAttrs& attrs;
  ConvProblem problem;
  ConvTask task;

  ConvPlan(const KernelPlan& p, ConvDirection d)
      : plan(p),
        attrs(p.attrs<ConvOpAttrs>()),
        problem(internal::conv_problem(d, str("[", p.op.type, " '", p.op.name, "'] "), p.in, p.out, attrs)),
        task(d == ConvDirection::forward ? internal::conv2d_task(p.in, attrs.activation) : ConvTask{d}) {}
};

template <class T>
void run_loops(const KernelRun& run, const ConvTask& task, const ConvProblem& p) {
  const T *a = run.in<T>(0).data(), *b = run.in<T>(1).data();
  const T* bias = task.has_bias ? run.in<T>(2).data() : nullptr;
  const T* addend = task.has_addend ? run.in<T>(task.addend()).data() : nullptr;
  T* result = run.out<T>(0).data();
  switch (task.direction) {
    case ConvDirection::forward: return internal::convolve(run.threads, p, a, b, bias, addend, task.relu, result);
    case ConvDirection::grad_input: return internal::convolve_back(run.threads, p, a, b, result);
    case ConvDirection::grad_kernel: return internal::correlate(run.threads, p, a, b, result);
  }
}

template <class T>
Kernel own_kernel(const ConvPlan& c) {
  const internal::WideFactors wide(c.plan);
  Kernel kernel([p = c.problem, task = c.task, wide](const KernelRun& r) {
    wide.run(r, task.inputs(), [&](const KernelRun& run) { run_loops<T>(run, task, p); });
  });
  return kernel.scratch(wide.bytes());
}

std::vector<onednn::Binding> bindings_of(const ConvPlan& c, bool takes_bias) {
  using onednn::Role, onednn::Side;
  std::vector<onednn::Binding> list;
  switch (c.task.direction) {
    case ConvDirection::forward:
      list = {{Role::src, Side::input, 0}, {Role::weights, Side::input, 1}, {Role::dst, Side::output, 0}};
      break;
    case ConvDirection::grad_input:
      list = {{Role::diff_dst, Side::input, 0}, {Role::weights, Side::input, 1}, {Role::diff_src, Side::output, 0}};
      break;
    case ConvDirection::grad_kernel:
      list = {{Role::src, Side::input, 0}, {Role::diff_dst, Side::input, 1}, {Role::diff_weights, Side::output, 0}};
      break;
  }
  if (takes_bias) list.push_back({Role::bias, Side::input, 2});
  return list;
}

// `inner` takes or gives the kernel in the layout `packed`, which lies at the start of scratch.
Kernel with_reorder(const ConvPlan& c, const Kernel& inner, const Layout& packed) {
  const Primitive reorder = internal::kernel_reorder(c.plan.op, c.problem, c.task.direction,
                                                     c.problem.kernel_dtype(c.task.direction), packed, c.plan.threads);
  const int64_t bytes = align_up(packed.bytes(), Buffer::kAlignment), rest = reorder.scratch_bytes();
  const bool gives_kernel = c.task.direction == ConvDirection::grad_kernel;
  const auto bind = [=, inputs = c.task.inputs()](const KernelRun& addresses) -> BoundKernel {
    return [=, call = inner.bind(addresses),
            copy = onednn::Call(reorder, {onednn::Role::from, onednn::Role::to})](const KernelRun& run) mutable {
      std::array<RunTensor, internal::kMostInputs> in;
      std::copy_n(run.in_, inputs, in.begin());
      RunTensor out = run.out_[0];
      (gives_kernel ? out : in[1]).data = run.scratch;
      copy.set(0, gives_kernel ? run.scratch : run.in_[1].data);
      copy.set(1, gives_kernel ? run.out_[0].data : run.scratch);
      if (rest > 0) copy.set(2, run.scratch + bytes);
      if (!gives_kernel) copy.run();
      call(KernelRun{in.data(), &out, run.scratch + bytes, run.params, run.threads});
      if (gives_kernel) copy.run();
    };
  };
  return Kernel::with_bind(bind)
      .scratch(checked_add(bytes, std::max(rest, inner.scratch_bytes())))
      .implementation(inner.implementation());
}

// y + bias, unless it is there already, + addend, then ReLU. Channels may lie first.
void finish(const KernelRun& run, const ConvProblem& p, const ConvTask& task, bool adds_bias) {
  float* y = run.out<float>(0).data();
  const float* bias = adds_bias ? run.in<float>(2).data() : nullptr;
  const float* addend = task.has_addend ? run.in<float>(task.addend()).data() : nullptr;
  const bool is_nhwc = p.format == DataFormat::nhwc;
  const int64_t pixels = p.axes[0].out * p.axes[1].out, count = p.batch * pixels * p.out_channels;
  if (!bias) return internal::finish_in_place(run, y, addend, task.relu, count);
  const int64_t rows = is_nhwc ? p.axes[1].out : 1, columns = is_nhwc ? p.out_channels : pixels;
  parallel_for(run.threads, count / (rows * columns), [&](int64_t i) {
    const int64_t first = i * rows * columns;
    for (int64_t e = 0; !is_nhwc && e < columns; ++e) y[first + e] += bias[i % p.out_channels];
    cpu::gemm_loops<float>().finish(y + first, rows, columns, is_nhwc ? bias : nullptr,
                                    addend ? addend + first : nullptr, task.relu);
  });
}

// What is left to do with the result of `inner`.
Kernel with_finish(const ConvPlan& c, const Kernel& inner, bool adds_bias) {
  if (!adds_bias && !c.task.has_addend && !c.task.relu) return inner;
  const auto bind = [=, p = c.problem, task = c.task](const KernelRun& addresses) -> BoundKernel {
    return [=, call = inner.bind(addresses)](const KernelRun& run) {
      call(run);
      finish(run, p, task, adds_bias);
    };
  };
  return Kernel::with_bind(bind).scratch(inner.scratch_bytes()).implementation(inner.implementation());
}

// By the library's implementation of that name, or its first. Null where the library has none.
Kernel library_kernel(const ConvPlan& c, const std::string& implementation) {
  const auto& packing = c.attrs.packing;
  const Layout given =
      packing.is_packed() ? internal::packed_kernel(c.plan.op, c.problem, c.task.direction, packing) : Layout();
  const auto make = [&](bool takes_bias) {
    auto desc = internal::library_conv(c.problem, c.task.direction, given, takes_bias);
    desc.implementation = implementation;
    return onednn::make_convolution(c.plan.op, desc, c.plan.threads);
  };
  Primitive conv = make(c.task.has_bias);
  if (conv.is_null()) return Kernel();
  const bool takes_bias = c.task.has_bias && onednn::adds_bias_last(conv);
  if (c.task.has_bias && !takes_bias) conv = make(false);
  Kernel kernel = onednn::make_kernel(conv, bindings_of(c, takes_bias));
  const bool gives_kernel = c.task.direction == ConvDirection::grad_kernel;
  const Layout layout = conv.layout(gives_kernel ? onednn::Role::diff_weights : onednn::Role::weights);
  const Layout plain = internal::plain_kernel(c.problem, c.problem.kernel_dtype(c.task.direction));
  if (!packing.is_packed() && !(layout == plain)) kernel = with_reorder(c, kernel, layout);
  return with_finish(c, kernel, c.task.has_bias && !takes_bias);
}

Kernel own_kernel(const ConvPlan& c) {
  MARTELLO_CHECK(!c.problem.is_narrow, c.plan.op.where(), onednn::version(), " has no convolution ", c.plan.in[0].str(),
                 " with narrow. Use cast() after it.");
  return c.problem.dtype == f64 ? own_kernel<double>(c) : own_kernel<float>(c);
}

Kernel packed_kernel(const ConvPlan& c) {
  const Kernel kernel = library_kernel(c, c.attrs.packing.implementation);
  MARTELLO_ASSERT(!kernel.is_null(), c.plan.op.where(), onednn::version(),
                  " has no convolution for the kernel that was packed for it.");
  return kernel;
}

constexpr char kLibrary[] = "oneDNN";

KernelCandidate winograd_candidate(const ConvPlan& c) {
  return {internal::kWinogradName, [c] { return internal::winograd_kernel(c.plan, c.problem, c.task); }};
}

KernelCandidate product_candidate(const ConvPlan& c) {
  return {internal::kProductName, [c] { return internal::product_kernel(c.plan, c.problem, c.task); }};
}

KernelCandidate direct_candidate(const ConvPlan& c) {
  return {internal::kDirectName, [c] {
            if (!c.task.has_addend) return internal::direct_kernel(c.plan, c.problem, c.task);
            const ConvTask sums{.has_bias = c.task.has_bias};
            return with_finish(c, internal::direct_kernel(c.plan, c.problem, sums), false);
          }};
}

// Of the library's implementations; when nobody asks for the others, its first, whose name does not matter.
std::vector<std::string> library_names(const ConvPlan& c) {
  if (!internal::is_for_library(c.problem)) return {};
  const auto desc = internal::library_conv(c.problem, c.task.direction, Layout(), c.task.has_bias);
  if (KernelChooserScope::wants_all()) return onednn::convolution_implementations(c.plan.op, desc, c.plan.threads);
  const bool has_none = onednn::convolution_weights(c.plan.op, desc, c.plan.threads).is_null();
  return has_none ? std::vector<std::string>() : std::vector<std::string>{""};
}

// All that compute this convolution, the best by fixed rules first. "oneDNN" is the library's own choice.
std::vector<KernelCandidate> candidates_of(const ConvPlan& c) {
  std::vector<KernelCandidate> list;
  const auto add_library = [&](const std::string& name, const std::string& implementation) {
    list.push_back({name, [=] { return library_kernel(c, implementation); }});
  };
  const bool by_direct = internal::is_direct_faster(c.problem, c.task.direction);
  const bool by_winograd = !by_direct && internal::is_winograd_faster(c.problem, c.task.direction);
  const bool by_product = !by_direct && !by_winograd && internal::is_product_faster(c.problem, c.task.direction);
  if (by_direct) list.push_back(direct_candidate(c));
  if (by_winograd) list.push_back(winograd_candidate(c));
  if (by_product) list.push_back(product_candidate(c));
  if (!list.empty() && !KernelChooserScope::wants_all()) return list;
  const auto names = library_names(c);
  if (!names.empty()) add_library(kLibrary, "");
  for (size_t i = 1; i < names.size(); ++i) add_library(str(kLibrary, " ", names[i]), names[i]);
  if (list.empty()) list.push_back({"own", [=] { return own_kernel(c); }});
  if (!by_direct && internal::is_for_direct(c.problem, c.task.direction)) list.push_back(direct_candidate(c));
  if (!by_winograd && internal::is_for_winograd(c.problem)) list.push_back(winograd_candidate(c));
  if (!by_product && internal::is_for_product(c.problem, c.task.direction)) list.push_back(product_candidate(c));
  return list;
}

Kernel plan_conv(const KernelPlan& plan, ConvDirection direction) {
  const ConvPlan c(plan, direction);
  return c.attrs.packing.is_packed() ? packed_kernel(c) : choose_kernel(plan, candidates_of(c));
}

}  // namespace

std::string internal::chosen_convolution(const KernelPlan& plan, ConvDirection direction) {
  const ConvPlan c(plan, direction);
  const auto list = candidates_of(c);
  return list[choose_candidate(plan, list)].name;
}

internal::KernelPacking internal::choose_packing(const KernelPlan& plan, ConvDirection direction) {
  const std::string name = chosen_convolution(plan, direction);
  if (!name.starts_with(kLibrary)) return {};
  const std::string implementation = name == kLibrary ? "" : name.substr(sizeof kLibrary);
  return find_packing(plan.op, ConvPlan(plan, direction).problem, direction, plan.threads, implementation);
}

Kernel conv2d_cpu(const KernelPlan& plan) { return plan_conv(plan, ConvDirection::forward); }
Kernel conv2d_grad_input_cpu(const KernelPlan& plan) { return plan_conv(plan, ConvDirection::grad_input); }
Kernel conv2d_grad_kernel_cpu(const KernelPlan& plan) { return plan_conv(plan, ConvDirection::grad_kernel); }

}  // namespace martello
