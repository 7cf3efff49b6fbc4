#include <martello/kernel/cpu/isa.h>
#include <martello/ops/group_norm.h>
#include <martello/ops/internal/channel_numbers.h>
#include <martello/ops/internal/group_norm_kernel.h>

#include <algorithm>
#include <cmath>

namespace martello {
namespace cpu {

template <>
const RowLoops<float>& row_loops<float>() {
  return of_host_isa(v2::row_loops_f32, v3::row_loops_f32, v4::row_loops_f32);
}
template <>
const RowLoops<double>& row_loops<double>() {
  return of_host_isa(v2::row_loops_f64, v3::row_loops_f64, v4::row_loops_f64);
}

}  // namespace cpu

namespace internal {
namespace {

// One run: the arrays of one op, and what its numbers are made of.
template <class T>
class GroupNormRun {
 public:
  GroupNormRun(const KernelRun& run, const GroupView& groups, bool is_gradient)
      : run_(run),
        epsilon_(groups.epsilon),
        pass_(view_of(run, groups)),
        scratch_(run.scratch),
        n_(scratch_, pass_, is_gradient),
        groups_(groups.groups),
        members_(groups_ > 0 ? pass_.channels() / groups_ : 0) {}

  void normalize() {
    pass_.moments(in(0), n_.partials, n_.first, n_.second, run_.threads);
    for (int64_t i = 0; i < pass_.segments() * groups_; ++i) merge_group(i);
    set_affine(out(1), out(2), in(2));
    pass_.normalize(in(0), nullptr, out(0), n_.affine(false), run_.threads);
  }

  void differentiate() {
    set_affine(in(2), in(3), nullptr);
    pass_.gradient_sums(in(0), in(4), n_.affine(false), n_.partials, n_.first, n_.second, run_.threads);
    for (int64_t c = 0; c < pass_.channels(); ++c) sum_channel(c);
    for (int64_t i = 0; i < pass_.segments() * groups_; ++i) set_slope(i);
    n_.repeat_slope(pass_);
    pass_.gradient(in(0), in(4), out(0), n_.affine(false), n_.slope(), run_.threads);
  }

 private:
  static ChannelView view_of(const KernelRun& run, const GroupView& groups) {
    ChannelView view = groups.view;
    if (groups.segments_per_row > 0) view.segments = checked_mul(run.in_rows(0), groups.segments_per_row);
    return view;
  }
  T* in(int i) const { return static_cast<T*>(run_.in_[i].data); }
  T* out(int i) const { return static_cast<T*>(run_.out_[i].data); }
  double inverse_root(T variance) const { return 1 / std::sqrt(static_cast<double>(variance) + epsilon_); }
  // Of the first channel of group i, in [segments, channels] and in arrays of width().
  int64_t dense(int64_t i) const { return i * members_; }
  int64_t wide(int64_t i) const { return i / groups_ * pass_.width() + i % groups_ * members_; }

  void merge_group(int64_t i) {
    const double *mean = n_.first + dense(i), *squares = n_.second + dense(i);
    double sum = 0, all = 0;
    for (int64_t k = 0; k < members_; ++k) sum += mean[k];
    const double m = sum / static_cast<double>(members_);
    for (int64_t k = 0; k < members_; ++k)
      all += squares[k] + static_cast<double>(pass_.count()) * (mean[k] - m) * (mean[k] - m);
    out(1)[i] = static_cast<T>(m);
    out(2)[i] = static_cast<T>(all / static_cast<double>(pass_.count() * members_));
  }
  void set_affine(const T* mean, const T* variance, const T* beta) {
    for (int64_t i = 0; i < pass_.segments() * groups_; ++i) {
      const double r = inverse_root(variance[i]);
      for (int64_t k = 0; k < members_; ++k) {
        const int64_t channel = i % groups_ * members_ + k, at = wide(i) + k;
        n_.mean[at] = mean[i];
        n_.scale[at] = static_cast<T>(static_cast<double>(in(1)[channel]) * r);
        n_.beta[at] = beta ? beta[channel] : T{0};
      }
    }
    n_.repeat_affine(pass_);
  }
  void sum_channel(int64_t c) {
    double dgamma = 0, dbeta = 0;
    for (int64_t s = 0; s < pass_.segments(); ++s) {
      const int64_t at = s * pass_.channels() + c;
      dgamma += n_.second[at] * inverse_root(in(3)[s * groups_ + c / members_]);
      dbeta += n_.first[at];
    }
    out(1)[c] = static_cast<T>(dgamma);
    out(2)[c] = static_cast<T>(dbeta);
  }
  // dx = r gamma dy - r^3 mean(gamma dy (x - mean)) (x - mean) - r mean(gamma dy)
  void set_slope(int64_t i) {
    const T* gamma = in(1) + i % groups_ * members_;
    const double r = inverse_root(in(3)[i]), all = static_cast<double>(pass_.count() * members_);
    double sum = 0, product = 0;
    for (int64_t k = 0; k < members_; ++k) {
      sum += static_cast<double>(gamma[k]) * n_.first[dense(i) + k];
      product += static_cast<double>(gamma[k]) * n_.second[dense(i) + k];
    }
    for (int64_t k = 0; k < members_; ++k) {
      n_.a[wide(i) + k] = static_cast<T>(r * static_cast<double>(gamma[k]));
      n_.b[wide(i) + k] = static_cast<T>(-r * r * r * product / all);
      n_.c[wide(i) + k] = static_cast<T>(-r * sum / all);
    }
  }

  const KernelRun& run_;
  double epsilon_;
  ChannelPass<T> pass_;
  Scratch scratch_;
  ChannelNumbers<T> n_;
  int64_t groups_, members_;
};

template <class T>
Kernel make_kernel(const GroupView& groups, bool is_gradient) {
  Kernel kernel([=](const KernelRun& run) {
    GroupNormRun<T> step(run, groups, is_gradient);
    if (is_gradient) step.differentiate();
    else step.normalize();
  });
  return kernel.scratch(ChannelNumbers<T>::bytes(ChannelPass<T>(groups.view), is_gradient));
}

}  // namespace

Kernel group_norm_kernel(DType dtype, const GroupView& groups) {
  return dtype == f32 ? make_kernel<float>(groups, false) : make_kernel<double>(groups, false);
}
Kernel group_norm_grad_kernel(DType dtype, const GroupView& groups) {
  return dtype == f32 ? make_kernel<float>(groups, true) : make_kernel<double>(groups, true);
}

}  // namespace internal

namespace {

internal::GroupView view_of(const KernelPlan& plan) {
  const Shape& x = plan.in[0].shape;
  const auto& a = plan.attrs<GroupNormAttrs>();
  const int axis = channel_axis(a.data_format, x.rank());
  internal::GroupView groups{.groups = a.groups == 0 ? x[axis] : a.groups, .epsilon = a.epsilon};
  groups.view = {.segments = x[0], .channels = x[axis], .is_last = axis == x.rank() - 1};
  if (x.rank() == 4) groups.view.pixels = axis == 1 ? x.num_elements(2, 4) : x.num_elements(1, 3);
  return groups;
}

}  // namespace

Kernel group_norm_cpu(const KernelPlan& plan) { return internal::group_norm_kernel(plan.in[0].dtype, view_of(plan)); }
Kernel group_norm_grad_cpu(const KernelPlan& plan) {
  return internal::group_norm_grad_kernel(plan.in[0].dtype, view_of(plan));
}

}  // namespace martello
