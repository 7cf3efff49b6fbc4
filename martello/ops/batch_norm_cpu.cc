#include <martello/kernel/cpu/isa.h>
#include <martello/ops/batch_norm.h>
#include <martello/ops/internal/channel_numbers.h>

#include <cmath>

namespace martello {
namespace cpu {

template <>
const ColumnLoops<float>& column_loops<float>() {
  return of_host_isa(v2::column_loops_f32, v3::column_loops_f32, v4::column_loops_f32);
}
template <>
const ColumnLoops<double>& column_loops<double>() {
  return of_host_isa(v2::column_loops_f64, v3::column_loops_f64, v4::column_loops_f64);
}

template <>
const ColumnLoops<float, uint16_t>& column_loops<float, uint16_t>() {
  return of_host_isa(v2::column_loops_bf16, v3::column_loops_bf16, v4::column_loops_bf16);
}

}  // namespace cpu

namespace {

using internal::ChannelNumbers;
using internal::ChannelPass;
using internal::ChannelView;

// f(T, type of x)
template <class F>
Kernel for_floating(DType x, F f) {
  if (x == bf16) return f(float{}, uint16_t{});
  return x == f32 ? f(float{}, float{}) : f(double{}, double{});
}

ChannelView view_of(const KernelPlan& plan) {
  const Shape& x = plan.in[0].shape;
  const auto format = plan.attrs<BatchNormAttrs>().data_format;
  if (x.rank() == 2) return {.images = x[0], .channels = x[1]};
  const int axis = channel_axis(format, 4), image = axis == 1 ? 2 : 1;
  return {.images = x[0],
          .pixels = x.num_elements(image, image + 2),
          .channels = x[axis],
          .is_last = format == DataFormat::nhwc};
}

template <class T>
T* in(const KernelRun& run, int i) {
  return static_cast<T*>(run.in_[i].data);
}
template <class T>
T* out(const KernelRun& run, int i) {
  return static_cast<T*>(run.out_[i].data);
}

template <class T>
double inverse_root(T variance, double epsilon) {
  return 1 / std::sqrt(static_cast<double>(variance) + epsilon);
}

// The numbers of z, the same in the op and in its gradient.
template <class T, class X>
void set_affine(const ChannelNumbers<T>& n, const ChannelPass<T, X>& pass, const KernelRun& run, const T* mean,
                const T* variance, double epsilon) {
  for (int64_t i = 0; i < pass.channels(); ++i) {
    n.mean[i] = mean[i];
    n.scale[i] = static_cast<T>(static_cast<double>(in<T>(run, 1)[i]) * inverse_root(variance[i], epsilon));
    n.beta[i] = in<T>(run, 2)[i];
  }
  n.repeat_affine(pass);
}

struct NormNode : BatchNormAttrs {
  int addend = 0;  // the input that is added to the result; 0: none
};

// Into output 0, which is bf16 with `narrow`.
template <class T, class X>
void normalize(const KernelRun& run, const ChannelPass<T, X>& pass, const ChannelNumbers<T>& n, const NormNode& a) {
  const X* x = in<X>(run, 0);
  const T* addend = a.addend > 0 ? in<T>(run, a.addend) : nullptr;
  if (a.narrow) pass.normalize_bf16(x, addend, out<uint16_t>(run, 0), n.affine(a.relu), run.threads);
  else pass.normalize(x, addend, out<T>(run, 0), n.affine(a.relu), run.threads);
}

// f(run, pass, numbers) with scratch booked. The pass is made for the rows of the run.
template <class T, class X, class F>
Kernel channel_kernel(const KernelPlan& plan, bool has_slope, F f) {
  const ChannelView view = view_of(plan);
  Kernel kernel([=](const KernelRun& run) {
    ChannelView rows = view;
    rows.images = run.in_rows(0);
    const ChannelPass<T, X> pass(rows);
    internal::Scratch scratch(run.scratch);
    f(run, pass, ChannelNumbers<T>(scratch, pass, has_slope));
  });
  return kernel.scratch(ChannelNumbers<T>::bytes(ChannelPass<T, X>(view), has_slope));
}

template <class T, class X>
void run_training(const KernelRun& run, const ChannelPass<T, X>& pass, const ChannelNumbers<T>& n, const NormNode& a) {
  T *mean = out<T>(run, 1), *variance = out<T>(run, 2);
  pass.moments(in<X>(run, 0), n.partials, n.first, n.second, run.threads);
  for (int64_t i = 0; i < pass.channels(); ++i) {
    mean[i] = static_cast<T>(n.first[i]);
    variance[i] = static_cast<T>(n.second[i] / static_cast<double>(pass.count()));
  }
  set_affine(n, pass, run, mean, variance, a.epsilon);
  normalize(run, pass, n, a);
}

// Sums over nothing are 0, though the moments of nothing are NaN.
template <class T, class X>
void set_dgamma_dbeta(const KernelRun& run, const ChannelPass<T, X>& pass, const ChannelNumbers<T>& n, double epsilon) {
  for (int64_t i = 0; i < pass.channels(); ++i) {
    const double r = pass.count() > 0 ? inverse_root(in<T>(run, 4)[i], epsilon) : 0;
    out<T>(run, 1)[i] = static_cast<T>(n.second[i] * r);
    out<T>(run, 2)[i] = static_cast<T>(n.first[i]);
  }
}

// dx = gamma r dy - gamma r^3 mean(dy (x - mean)) (x - mean) - gamma r mean(dy)
template <class T, class X>
void run_training_grad(const KernelRun& run, const ChannelPass<T, X>& pass, const ChannelNumbers<T>& n,
                       const NormNode& a) {
  const X* x = in<X>(run, 0);
  const T* dy = in<T>(run, 5);
  set_affine(n, pass, run, in<T>(run, 3), in<T>(run, 4), a.epsilon);
  pass.gradient_sums(x, dy, n.affine(a.relu), n.partials, n.first, n.second, run.threads);
  set_dgamma_dbeta(run, pass, n, a.epsilon);
  const auto count = static_cast<double>(pass.count());
  for (int64_t i = 0; i < pass.channels(); ++i) {
    const double r = inverse_root(in<T>(run, 4)[i], a.epsilon), scale = static_cast<double>(in<T>(run, 1)[i]) * r;
    n.a[i] = static_cast<T>(scale);
    n.b[i] = static_cast<T>(-scale * r * r * n.second[i] / count);
    n.c[i] = static_cast<T>(-scale * n.first[i] / count);
  }
  n.repeat_slope(pass);
  if (a.narrow) pass.gradient_bf16(x, dy, out<uint16_t>(run, 0), n.affine(a.relu), n.slope(), run.threads);
  else pass.gradient(x, dy, out<T>(run, 0), n.affine(a.relu), n.slope(), run.threads);
}

// dx = gamma r dy
template <class T, class X>
void run_inference_grad(const KernelRun& run, const ChannelPass<T, X>& pass, const ChannelNumbers<T>& n,
                        const NormNode& a) {
  set_affine(n, pass, run, in<T>(run, 3), in<T>(run, 4), a.epsilon);
  for (int64_t i = 0; i < pass.channels(); ++i) n.a[i] = n.scale[i], n.b[i] = n.c[i] = 0;
  n.repeat_slope(pass);
  pass.gradient_sums(in<X>(run, 0), in<T>(run, 5), n.affine(a.relu), n.partials, n.first, n.second, run.threads,
                     out<T>(run, 0), n.slope());
  set_dgamma_dbeta(run, pass, n, a.epsilon);
  for (int64_t i = 0; i < pass.channels(); ++i) {
    const double r = inverse_root(in<T>(run, 4)[i], a.epsilon), scale = static_cast<double>(in<T>(run, 1)[i]) * r;
    out<T>(run, 3)[i] = static_cast<T>(-scale * n.first[i]);
    out<T>(run, 4)[i] = static_cast<T>(-scale * r * r * n.second[i] / 2);
  }
}

template <class T, class X>
using Step = void (*)(const KernelRun&, const ChannelPass<T, X>&, const ChannelNumbers<T>&, const NormNode&);

// `inputs` has the op without an addend.
template <class T, class X>
Kernel step_kernel(const KernelPlan& plan, bool has_slope, size_t inputs, Step<T, X> step) {
  const NormNode a{plan.attrs<BatchNormAttrs>(), plan.in.size() > inputs ? static_cast<int>(inputs) : 0};
  return channel_kernel<T, X>(plan, has_slope, [=](const KernelRun& run, const auto& pass, const auto& numbers) {
    step(run, pass, numbers, a);
  });
}

template <class T, class X>
void run_inference(const KernelRun& run, const ChannelPass<T, X>& pass, const ChannelNumbers<T>& n, const NormNode& a) {
  set_affine(n, pass, run, in<T>(run, 3), in<T>(run, 4), a.epsilon);
  normalize(run, pass, n, a);
}

}  // namespace

Kernel batch_norm_training_cpu(const KernelPlan& plan) {
  return for_floating(plan.in[0].dtype,
                      [&]<class T, class X>(T, X) { return step_kernel<T, X>(plan, false, 3, run_training<T, X>); });
}
Kernel batch_norm_training_grad_cpu(const KernelPlan& plan) {
  return for_floating(plan.in[0].dtype, [&]<class T, class X>(T, X) {
    return step_kernel<T, X>(plan, true, 6, run_training_grad<T, X>);
  });
}
Kernel batch_norm_inference_cpu(const KernelPlan& plan) {
  return plan.in[0].dtype == f32 ? step_kernel<float, float>(plan, false, 5, run_inference<float, float>)
                                 : step_kernel<double, double>(plan, false, 5, run_inference<double, double>);
}
Kernel batch_norm_inference_grad_cpu(const KernelPlan& plan) {
  return plan.in[0].dtype == f32 ? step_kernel<float, float>(plan, true, 6, run_inference_grad<float, float>)
                                 : step_kernel<double, double>(plan, true, 6, run_inference_grad<double, double>);
}

}  // namespace martello
