#include <martello/kernel/cpu/isa.h>
#include <martello/ops/internal/float_reduce.h>
#include <martello/ops/internal/plain_reduce.h>
#include <martello/ops/internal/reduce_loops.h>
#include <martello/ops/reduce.h>

#include <limits>
#include <type_traits>

namespace martello {
namespace internal {

Kernel float_reduce(const KernelPlan& plan, cpu::Reduction::Kind kind, const std::vector<bool>& marked) {
  const Shape& shape = plan.in[0].shape;
  const DType dtype = plan.in[0].dtype;
  cpu::ElementwiseProgram program{.dtype = dtype, .input_dtypes = {dtype}};
  program.outputs = {{cpu::ElementwiseArg::input(0), dtype}};
  cpu::Reduction reduction{.kind = kind};
  for (size_t i = 0; i < marked.size(); ++i)
    if (marked[i]) reduction.axes.push_back(static_cast<int>(i));
  const cpu::ElementwiseKernel loops(program, shape, std::span(&shape, 1), reduction);
  const bool has_rows = shape.rank() > 0, keeps_rows = has_rows && !marked[0];
  Kernel kernel([loops, has_rows, keeps_rows](const KernelRun& run) {
    const void* x = run.in_[0].data;
    void* y = run.out_[0].data;
    loops.run(&x, &y, run.scratch, run.threads, has_rows ? run.in_rows(0) : -1);
    if (keeps_rows) run.set_out_rows(0, run.in_rows(0));
  });
  return kernel.scratch(loops.scratch_bytes(plan.threads));
}

}  // namespace internal

namespace {

template <class T>
const cpu::IntegerReduceLoops<T>& integer_loops() {
  if constexpr (sizeof(T) == 4)
    return cpu::of_host_isa(cpu::v2::reduce_loops_i32, cpu::v3::reduce_loops_i32, cpu::v4::reduce_loops_i32);
  else return cpu::of_host_isa(cpu::v2::reduce_loops_i64, cpu::v3::reduce_loops_i64, cpu::v4::reduce_loops_i64);
}
const cpu::BoolReduceLoops& bool_loops() {
  return cpu::of_host_isa(cpu::v2::reduce_loops_bool, cpu::v3::reduce_loops_bool, cpu::v4::reduce_loops_bool);
}

template <class T>
T wrapping(uint64_t v) {
  return static_cast<T>(v);
}

template <class T>
struct Sum {
  using In = T;
  using Acc = T;
  static Acc none() { return 0; }
  static Acc step(Acc a, In x) { return wrapping<T>(static_cast<uint64_t>(a) + static_cast<uint64_t>(x)); }
  static Acc merge(Acc a, Acc b) { return step(a, b); }
  static const auto& loops() { return integer_loops<T>().sum; }
};
template <class T>
struct Prod {
  using In = T;
  using Acc = T;
  static Acc none() { return 1; }
  static Acc step(Acc a, In x) { return wrapping<T>(static_cast<uint64_t>(a) * static_cast<uint64_t>(x)); }
  static Acc merge(Acc a, Acc b) { return step(a, b); }
  static const auto& loops() { return integer_loops<T>().prod; }
};
template <class T>
struct Max {
  using In = T;
  using Acc = T;
  static Acc none() { return std::numeric_limits<T>::lowest(); }
  static Acc step(Acc a, In x) { return std::max(a, x); }
  static Acc merge(Acc a, Acc b) { return std::max(a, b); }
  static const auto& loops() { return integer_loops<T>().max; }
};
template <class T>
struct Min {
  using In = T;
  using Acc = T;
  static Acc none() { return std::numeric_limits<T>::max(); }
  static Acc step(Acc a, In x) { return std::min(a, x); }
  static Acc merge(Acc a, Acc b) { return std::min(a, b); }
  static const auto& loops() { return integer_loops<T>().min; }
};
// Without branches, for vectors.
struct All {
  using In = bool;
  using Acc = bool;
  static Acc none() { return true; }
  static Acc step(Acc a, In x) { return static_cast<bool>(a & x); }
  static Acc merge(Acc a, Acc b) { return static_cast<bool>(a & b); }
  static const auto& loops() { return bool_loops().all; }
};
struct Any {
  using In = bool;
  using Acc = bool;
  static Acc none() { return false; }
  static Acc step(Acc a, In x) { return static_cast<bool>(a | x); }
  static Acc merge(Acc a, Acc b) { return static_cast<bool>(a | b); }
  static const auto& loops() { return bool_loops().any; }
};

std::vector<bool> marked_of(const KernelPlan& plan) {
  return internal::marked_axes(plan.attrs<ReduceAttrs>().axes, plan.in[0].shape.rank());
}

template <template <class> class Rule>
Kernel integer_reduce(const KernelPlan& plan, const std::vector<bool>& marked) {
  if (plan.in[0].dtype == i32) return internal::plain_reduce<Rule<int32_t>>(plan, marked);
  return internal::plain_reduce<Rule<int64_t>>(plan, marked);
}

template <template <class> class Rule>
Kernel reduce_cpu(const KernelPlan& plan, cpu::Reduction::Kind kind) {
  const auto marked = marked_of(plan);
  return is_floating(plan.in[0].dtype) ? internal::float_reduce(plan, kind, marked)
                                       : integer_reduce<Rule>(plan, marked);
}

}  // namespace

namespace internal {
Kernel integer_sum(const KernelPlan& plan, const std::vector<bool>& marked) {
  return integer_reduce<Sum>(plan, marked);
}
}  // namespace internal

Kernel reduce_sum_cpu(const KernelPlan& plan) { return reduce_cpu<Sum>(plan, cpu::Reduction::Kind::sum); }
Kernel reduce_max_cpu(const KernelPlan& plan) { return reduce_cpu<Max>(plan, cpu::Reduction::Kind::max); }
Kernel reduce_min_cpu(const KernelPlan& plan) { return reduce_cpu<Min>(plan, cpu::Reduction::Kind::min); }
Kernel reduce_prod_cpu(const KernelPlan& plan) { return reduce_cpu<Prod>(plan, cpu::Reduction::Kind::prod); }
Kernel reduce_mean_cpu(const KernelPlan& plan) {
  return internal::float_reduce(plan, cpu::Reduction::Kind::mean, marked_of(plan));
}
Kernel reduce_all_cpu(const KernelPlan& plan) { return internal::plain_reduce<All>(plan, marked_of(plan)); }
Kernel reduce_any_cpu(const KernelPlan& plan) { return internal::plain_reduce<Any>(plan, marked_of(plan)); }

namespace {

// Products of the elements before each one, then times those of the elements after it.
template <class T>
void product_of_others(const internal::ReduceView& view, const T* x, T* y, int64_t n) {
  T product = 1;
  for (int64_t i = 0; i < n; ++i) {
    const int64_t at = view.reduced_offset(i);
    y[at] = product;
    product *= x[at];
  }
  product = 1;
  for (int64_t i = n; i-- > 0;) {
    const int64_t at = view.reduced_offset(i);
    y[at] *= product;
    product *= x[at];
  }
}

template <class T>
Kernel product_of_others_kernel(const internal::ReduceView& view) {
  return Kernel([view](const KernelRun& run) {
    const int64_t kept = view.kept_count(run.in_rows(0)), n = view.reduced_count(run.in_rows(0));
    const int64_t chunk = std::max<int64_t>(1, 16384 / std::max<int64_t>(n, 1));
    const T* x = static_cast<const T*>(run.in_[0].data);
    T* y = static_cast<T*>(run.out_[0].data);
    parallel_for(run.threads, ceil_div(kept, chunk), [&](int64_t c) {
      for (int64_t o = c * chunk; o < std::min(kept, (c + 1) * chunk); ++o)
        product_of_others(view, x + view.kept_offset(o), y + view.kept_offset(o), n);
    });
  });
}

}  // namespace

Kernel product_of_others_cpu(const KernelPlan& plan) {
  const Shape& shape = plan.in[0].shape;
  const internal::ReduceView view(shape, internal::marked_axes(plan.attrs<AxesAttrs>().axes, shape.rank()));
  return plan.in[0].dtype == f32 ? product_of_others_kernel<float>(view) : product_of_others_kernel<double>(view);
}

}  // namespace martello
