#include <martello/base/checked.h>
#include <martello/base/threads.h>
#include <martello/kernel/cpu/isa.h>
#include <martello/ops/internal/axis_view.h>
#include <martello/ops/internal/resize_loops.h>
#include <martello/ops/resize.h>

#include <algorithm>
#include <memory>

namespace martello {
namespace {

template <class T>
auto host_line() {
  const cpu::ResizeLoops& loops = cpu::of_host_isa(cpu::v2::resize_loops, cpu::v3::resize_loops, cpu::v4::resize_loops);
  if constexpr (std::is_same_v<T, float>) return loops.line_f32;
  else return loops.line_f64;
}

// A place on the input's axis as a fraction: pixel and rest are exact, so that no rounding moves a pixel.
struct Place {
  int64_t numerator = 0, denominator = 1;
};

Place place_of(ResizeGrid grid, int64_t o, int64_t in, int64_t out) {
  if (grid == ResizeGrid::top_left) return {o * in, out};
  if (grid == ResizeGrid::half_pixel) return {std::max<int64_t>(0, (2 * o + 1) * in - out), 2 * out};
  return out > 1 ? Place{o * (in - 1), out - 1} : Place{};
}

int64_t nearest_pixel(ResizeGrid grid, int64_t o, int64_t in, int64_t out) {
  if (grid == ResizeGrid::half_pixel) return std::min(in - 1, (2 * o + 1) * in / (2 * out));
  const Place p = place_of(grid, o, in, out);
  if (grid == ResizeGrid::top_left) return p.numerator / p.denominator;
  return (2 * p.numerator + p.denominator) / (2 * p.denominator);
}

template <class T>
struct Taps {
  std::vector<int64_t> first = {0}, from = {};
  std::vector<T> weight = {};

  void add(int64_t pixel, double w) {
    from.push_back(pixel);
    weight.push_back(static_cast<T>(w));
  }
  void end_output() { first.push_back(static_cast<int64_t>(from.size())); }
  cpu::AxisMap<T> map() const { return {first.data(), from.data(), weight.data()}; }
};

template <class T>
Taps<T> forward_taps(const ResizeAttrs& a, int64_t in, int64_t out) {
  checked_mul(checked_mul(4, in), out);  // place_of() stays below
  Taps<T> taps;
  for (int64_t o = 0; o < out; ++o) {
    const Place p = place_of(a.grid, o, in, out);
    const int64_t pixel = p.numerator / p.denominator, rest = p.numerator % p.denominator;
    const double part = static_cast<double>(rest) / static_cast<double>(p.denominator);
    if (a.method == ResizeMethod::nearest) {
      taps.add(nearest_pixel(a.grid, o, in, out), 1);
    } else if (rest == 0 || pixel + 1 >= in) {
      taps.add(std::min(pixel, in - 1), 1);
    } else {
      taps.add(pixel, 1 - part);
      taps.add(pixel + 1, part);
    }
    taps.end_output();
  }
  return taps;
}

// For each input of `forward` the outputs it went to.
template <class T>
Taps<T> transposed(const Taps<T>& forward, int64_t in) {
  Taps<T> taps;
  taps.first.assign(static_cast<size_t>(in) + 1, 0);
  for (const int64_t i : forward.from) ++taps.first[static_cast<size_t>(i) + 1];
  for (size_t i = 1; i < taps.first.size(); ++i) taps.first[i] += taps.first[i - 1];
  std::vector<int64_t> next = taps.first;
  taps.from.resize(forward.from.size());
  taps.weight.resize(forward.from.size());
  for (size_t o = 0; o + 1 < forward.first.size(); ++o)
    for (size_t k = static_cast<size_t>(forward.first[o]); k < static_cast<size_t>(forward.first[o + 1]); ++k) {
      const size_t at = static_cast<size_t>(next[static_cast<size_t>(forward.from[k])]++);
      taps.from[at] = static_cast<int64_t>(o);
      taps.weight[at] = forward.weight[k];
    }
  return taps;
}

template <class T>
struct ImageMap {
  Taps<T> rows, columns;
  int64_t images_per_sample = 1, in_height = 1, out_height = 1;
  cpu::ResizeTask<T> task = {};
};

template <class T>
std::shared_ptr<const ImageMap<T>> make_map(const KernelPlan& plan, bool is_gradient) {
  const auto& a = plan.attrs<ResizeAttrs>();
  const bool is_nhwc = a.data_format == DataFormat::nhwc;
  const int axis = is_nhwc ? 1 : 2;
  const Shape &x = plan.in[0].shape, &y = plan.out[0].shape;
  const auto taps = [&](int i) {
    return is_gradient ? transposed(forward_taps<T>(a, y[i], x[i]), y[i]) : forward_taps<T>(a, x[i], y[i]);
  };
  auto map = std::make_shared<ImageMap<T>>();
  map->rows = taps(axis);
  map->columns = taps(axis + 1);
  map->images_per_sample = is_nhwc ? 1 : x[1];
  map->in_height = x[axis];
  map->out_height = y[axis];
  map->task = {map->rows.map(), map->columns.map(), x[axis + 1], y[axis + 1], is_nhwc ? x[3] : 1, nullptr};
  return map;
}

template <class T>
Kernel resize_kernel(const KernelPlan& plan, bool is_gradient) {
  // Without elements the other sizes may be anything: no tables for them.
  if (plan.out[0].shape.num_elements() == 0)
    return Kernel([](const KernelRun& run) { run.set_out_rows(0, run.in_rows(0)); });
  return Kernel([map = make_map<T>(plan, is_gradient), add_line = host_line<T>()](const KernelRun& run) {
    const int64_t in_line = map->task.in_width * map->task.inner, out_line = map->task.out_width * map->task.inner;
    const int64_t height = map->out_height, lines = run.in_rows(0) * map->images_per_sample * height;
    const int64_t chunk = internal::rows_per_chunk(out_line);
    parallel_for(run.threads, ceil_div(lines, chunk), [&](int64_t c) {
      cpu::ResizeTask<T> task = map->task;
      for (int64_t i = c * chunk; i < std::min(lines, (c + 1) * chunk); ++i) {
        task.x = static_cast<const T*>(run.in_[0].data) + i / height * map->in_height * in_line;
        add_line(task, i % height, static_cast<T*>(run.out_[0].data) + i * out_line);
      }
    });
    run.set_out_rows(0, run.in_rows(0));
  });
}

}  // namespace

Kernel resize_cpu(const KernelPlan& plan) {
  return plan.in[0].dtype == f32 ? resize_kernel<float>(plan, false) : resize_kernel<double>(plan, false);
}
Kernel resize_grad_cpu(const KernelPlan& plan) {
  return plan.in[0].dtype == f32 ? resize_kernel<float>(plan, true) : resize_kernel<double>(plan, true);
}

}  // namespace martello
