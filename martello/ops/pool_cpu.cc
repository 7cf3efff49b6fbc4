#include <martello/base/checked.h>
#include <martello/base/threads.h>
#include <martello/kernel/cpu/caches.h>
#include <martello/kernel/cpu/isa.h>
#include <martello/ops/internal/axis_view.h>
#include <martello/ops/internal/pool_loops.h>
#include <martello/ops/internal/pool_planes.h>
#include <martello/ops/internal/pool_shape.h>

#include <algorithm>
#include <array>

namespace martello {
namespace {

using cpu::PoolImage;

cpu::PoolAxis axis_of(const internal::WindowAxis& a) { return {a.in, a.out, a.window, a.stride, a.before}; }

// How one op walks over its batch: `images` of a row each (planes when channels come first).
struct PoolPlan {
  PoolImage image;
  int64_t images_per_row = 1;
  bool is_last = true;

  PoolPlan(const PoolAttrs& a, const Shape& x) {
    const int at = internal::height_axis(a.data_format);
    const auto axes = internal::pool_axes("", a, x[at], x[at + 1]);
    is_last = a.data_format == DataFormat::nhwc;
    const int64_t channels = x[channel_axis(a.data_format, 4)];
    images_per_row = is_last ? 1 : channels;
    image = {axis_of(axes.h), axis_of(axes.w), is_last ? channels : 1};
    checked_product(std::array{x[0], channels, image.h.in, image.w.in});
    checked_product(std::array{x[0], channels, image.h.out, image.w.out});
  }
  int64_t inputs() const { return image.h.in * image.w.in * image.channels; }
  int64_t outputs() const { return image.h.out * image.w.out * image.channels; }

  template <class T>
  bool is_beyond_caches(int64_t batch) const {
    return batch * images_per_row * inputs() * static_cast<int64_t>(sizeof(T)) > cpu::last_level_cache_bytes();
  }

  // Calls f(image, row) for all rows of outputs, or of inputs.
  template <class F>
  void for_rows(const KernelRun& run, int64_t batch, bool of_outputs, F f) const {
    const int64_t rows = of_outputs ? image.h.out : image.h.in, all = batch * images_per_row * rows;
    const int64_t chunk =
        internal::rows_per_chunk((of_outputs ? 4 * outputs() : inputs()) / std::max<int64_t>(rows, 1));
    parallel_for(run.threads, image.channels > 0 ? ceil_div(all, chunk) : 0, [&](int64_t c) {
      for (int64_t i = c * chunk; i < std::min(all, (c + 1) * chunk); ++i) f(i / rows, i % rows);
    });
  }
};

template <class T, class Index>
cpu::PoolLoops<T, Index> max_loops(bool is_last);
#define MARTELLO_MAX_LOOPS(T, Index, suffix)                                                                           \
  template <>                                                                                                          \
  cpu::PoolLoops<T, Index> max_loops<T, Index>(bool is_last) {                                                         \
    if (!is_last) return cpu::plane_pool_loops<T, Index>;                                                              \
    return cpu::of_host_isa(cpu::v2::pool_loops_##suffix, cpu::v3::pool_loops_##suffix, cpu::v4::pool_loops_##suffix); \
  }
MARTELLO_MAX_LOOPS(float, uint8_t, f32_u8)
MARTELLO_MAX_LOOPS(float, int32_t, f32_i32)
MARTELLO_MAX_LOOPS(double, uint8_t, f64_u8)
MARTELLO_MAX_LOOPS(double, int32_t, f64_i32)
#undef MARTELLO_MAX_LOOPS

template <class T>
cpu::AvgPoolLoops<T> avg_loops(bool is_last) {
  if (!is_last) return cpu::plane_avg_pool_loops<T>;
  if constexpr (sizeof(T) == 4)
    return cpu::of_host_isa(cpu::v2::avg_pool_loops_f32, cpu::v3::avg_pool_loops_f32, cpu::v4::avg_pool_loops_f32);
  else return cpu::of_host_isa(cpu::v2::avg_pool_loops_f64, cpu::v3::avg_pool_loops_f64, cpu::v4::avg_pool_loops_f64);
}

template <class T>
T* in(const KernelRun& run, int i) {
  return static_cast<T*>(run.in_[i].data);
}
template <class T>
T* out(const KernelRun& run, int i) {
  return static_cast<T*>(run.out_[i].data);
}

// f(T, Index) for the dtypes of values and indices.
template <class F>
Kernel for_dtypes(DType values, DType index, F f) {
  if (values == f32) return index == u8 ? f(float{}, uint8_t{}) : f(float{}, int32_t{});
  return index == u8 ? f(double{}, uint8_t{}) : f(double{}, int32_t{});
}
template <class F>
Kernel for_dtype(DType values, F f) {
  return values == f32 ? f(float{}) : f(double{});
}

}  // namespace

Kernel max_pool_cpu(const KernelPlan& plan) {
  const PoolPlan p(plan.attrs<PoolAttrs>(), plan.in[0].shape);
  return for_dtypes(plan.in[0].dtype, plan.out[1].dtype, [&]<class T, class Index>(T, Index) {
    const auto loop = max_loops<T, Index>(p.is_last).max;
    return Kernel([=](const KernelRun& run) {
      p.for_rows(run, run.in_rows(0), true, [&](int64_t i, int64_t row) {
        const int64_t at = i * p.outputs();
        loop(in<T>(run, 0) + i * p.inputs(), out<T>(run, 0) + at, out<Index>(run, 1) + at, p.image, row);
      });
    });
  });
}

Kernel max_pool_take_cpu(const KernelPlan& plan) {
  const PoolPlan p(plan.attrs<PoolAttrs>(), plan.in[0].shape);
  return for_dtypes(plan.in[0].dtype, plan.in[1].dtype, [&]<class T, class Index>(T, Index) {
    const auto loop = max_loops<T, Index>(p.is_last).take;
    return Kernel([=](const KernelRun& run) {
      p.for_rows(run, run.in_rows(0), true, [&](int64_t i, int64_t row) {
        const int64_t at = i * p.outputs();
        loop(in<T>(run, 0) + i * p.inputs(), out<T>(run, 0) + at, in<Index>(run, 1) + at, p.image, row);
      });
    });
  });
}

Kernel max_pool_grad_cpu(const KernelPlan& plan) {
  const PoolPlan p(plan.attrs<PoolGradAttrs>().pool, plan.out[0].shape);
  return for_dtypes(plan.in[1].dtype, plan.in[0].dtype, [&]<class T, class Index>(T, Index) {
    const auto loop = max_loops<T, Index>(p.is_last).max_grad;
    return Kernel([=](const KernelRun& run) {
      const bool may_stream = p.is_beyond_caches<T>(run.in_rows(1));
      p.for_rows(run, run.in_rows(1), false, [&](int64_t i, int64_t row) {
        const int64_t at = i * p.outputs();
        loop(in<T>(run, 1) + at, in<Index>(run, 0) + at, out<T>(run, 0) + i * p.inputs(), p.image, row, may_stream);
      });
    });
  });
}

Kernel avg_pool_cpu(const KernelPlan& plan) {
  const PoolPlan p(plan.attrs<PoolAttrs>(), plan.in[0].shape);
  return for_dtype(plan.in[0].dtype, [&]<class T>(T) {
    const auto loop = avg_loops<T>(p.is_last).mean;
    return Kernel([=](const KernelRun& run) {
      p.for_rows(run, run.in_rows(0), true, [&](int64_t i, int64_t row) {
        loop(in<T>(run, 0) + i * p.inputs(), out<T>(run, 0) + i * p.outputs(), p.image, row);
      });
    });
  });
}

Kernel avg_pool_grad_cpu(const KernelPlan& plan) {
  const PoolPlan p(plan.attrs<PoolGradAttrs>().pool, plan.out[0].shape);
  return for_dtype(plan.in[0].dtype, [&]<class T>(T) {
    const auto loop = avg_loops<T>(p.is_last).mean_grad;
    return Kernel([=](const KernelRun& run) {
      const bool may_stream = p.is_beyond_caches<T>(run.in_rows(0));
      p.for_rows(run, run.in_rows(0), false, [&](int64_t i, int64_t row) {
        loop(in<T>(run, 0) + i * p.outputs(), out<T>(run, 0) + i * p.inputs(), p.image, row, may_stream);
      });
    });
  });
}

}  // namespace martello
