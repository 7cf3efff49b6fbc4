#include <martello/base/checked.h>
#include <martello/base/threads.h>
#include <martello/graph/kernel.h>
#include <martello/ops/pad.h>
#include <martello/tensor/host_tensor.h>

#include <algorithm>
#include <array>
#include <cstring>

namespace martello {
namespace {

struct PadAxis {
  int64_t size = 1, before = 0, after = 0;  // of the tensor without padding
  int64_t stride = 1, padded_stride = 1;    // in blocks
  int64_t padded() const { return before + size + after; }
};

// Where a place o of the padded axis comes from; -1: from nowhere.
int64_t source(const PadAxis& a, PadMode mode, int64_t o) {
  const int64_t p = o - a.before;
  if (p >= 0 && p < a.size) return p;
  if (mode == PadMode::constant) return -1;
  const int64_t edge = mode == PadMode::reflect ? 0 : 1;
  return p < 0 ? -p - edge : 2 * a.size - 2 + edge - p;
}

// The places of the padded axis that show element i.
struct Places {
  std::array<int64_t, 3> at{};
  int count = 0;
};

Places places(const PadAxis& a, PadMode mode, int64_t i) {
  Places p;
  p.at[static_cast<size_t>(p.count++)] = a.before + i;
  if (mode == PadMode::constant) return p;
  const int64_t edge = mode == PadMode::reflect ? 0 : 1;
  const int64_t left = a.before - i - edge, right = a.before + 2 * a.size - 2 + edge - i;
  if (left >= 0 && left < a.before) p.at[static_cast<size_t>(p.count++)] = left;
  if (right >= a.before + a.size && right < a.padded()) p.at[static_cast<size_t>(p.count++)] = right;
  return p;
}

// The tensor as axes of blocks: trailing axes without padding are one block. Axis 0 is always an axis of its own.
struct PadView {
  std::vector<PadAxis> axes = {};
  int64_t block = 1;  // elements
  PadMode mode = PadMode::constant;
  bool keeps_rows = false;
};

PadView pad_view(const Shape& x, const PadAttrs& a) {
  PadView view{.mode = a.mode};
  int rank = x.rank();
  const auto is_plain = [&](int i) {
    return a.before[static_cast<size_t>(i)] == 0 && a.after[static_cast<size_t>(i)] == 0;
  };
  while (rank > 1 && is_plain(rank - 1)) view.block = checked_mul(view.block, x[--rank]);
  for (int i = 0; i < rank; ++i)
    view.axes.push_back({x[i], a.before[static_cast<size_t>(i)], a.after[static_cast<size_t>(i)], 1, 1});
  if (view.axes.empty()) view.axes.push_back({});
  for (size_t i = view.axes.size() - 1; i-- > 0;) {
    view.axes[i].stride = view.axes[i + 1].stride * view.axes[i + 1].size;
    view.axes[i].padded_stride = view.axes[i + 1].padded_stride * view.axes[i + 1].padded();
  }
  view.keeps_rows = x.rank() > 0 && is_plain(0);
  return view;
}

int64_t chunk_of(int64_t unit_bytes) { return std::max<int64_t>(1, 32768 / std::max<int64_t>(unit_bytes, 1)); }

class PadRows {
 public:
  PadRows(PadView view, const HostTensor& value) : view_(std::move(view)), value_(value), width_(value.num_bytes()) {}

  void run(const KernelRun& run) const {
    const PadAxis& last = view_.axes.back();
    const int64_t rows = view_.keeps_rows ? run.in_rows(0) : view_.axes[0].padded();
    const bool is_flat = view_.axes.size() == 1;
    const int64_t size = is_flat && view_.keeps_rows ? rows : last.size;
    int64_t lines = is_flat ? 1 : rows;
    for (size_t i = 1; i + 1 < view_.axes.size(); ++i) lines *= view_.axes[i].padded();
    const int64_t line_bytes = (last.before + size + last.after) * view_.block * width_, chunk = chunk_of(line_bytes);
    if (line_bytes == 0) return run.set_out_rows(0, rows);
    parallel_for(run.threads, ceil_div(lines, chunk), [&](int64_t c) {
      for (int64_t line = c * chunk; line < std::min(lines, (c + 1) * chunk); ++line)
        fill_line(static_cast<const std::byte*>(run.in_[0].data),
                  static_cast<std::byte*>(run.out_[0].data) + line * line_bytes, line, size);
    });
    run.set_out_rows(0, rows);
  }

 private:
  // The line of the input that a line of the output shows; -1: none.
  int64_t source_line(int64_t line) const {
    int64_t at = 0;
    for (size_t i = view_.axes.size() - 1; i-- > 0;) {
      const PadAxis& a = view_.axes[i];
      const int64_t from = i == 0 && view_.keeps_rows ? line : source(a, view_.mode, line % a.padded());
      if (from < 0) return -1;
      at += from * a.stride;
      line /= a.padded();
    }
    return at;
  }

  void fill_line(const std::byte* x, std::byte* y, int64_t line, int64_t size) const {
    const PadAxis& last = view_.axes.back();
    const int64_t bytes = view_.block * width_, from = source_line(line);
    if (from < 0) return fill(y, last.padded() * view_.block);
    const std::byte* src = x + from * bytes;
    const auto end_part = [&](int64_t begin, int64_t end) {
      if (view_.mode == PadMode::constant) return fill(y + begin * bytes, (end - begin) * view_.block);
      for (int64_t o = begin; o < end; ++o)
        std::memcpy(y + o * bytes, src + source(last, view_.mode, o) * bytes, static_cast<size_t>(bytes));
    };
    end_part(0, last.before);
    std::memcpy(y + last.before * bytes, src, static_cast<size_t>(size * bytes));
    end_part(last.before + size, last.before + size + last.after);
  }

  void fill(std::byte* y, int64_t n) const {
    for (int64_t i = 0; i < n; ++i) std::memcpy(y + i * width_, value_.raw(), static_cast<size_t>(width_));
  }

  PadView view_;
  HostTensor value_;
  int64_t width_;
};

template <class T>
class PadGrad {
 public:
  explicit PadGrad(PadView view) : view_(std::move(view)) {}

  void run(const KernelRun& run) const {
    const int64_t rows = view_.keeps_rows ? run.in_rows(0) : view_.axes[0].size;
    const int64_t blocks = rows * view_.axes[0].stride, chunk = chunk_of(view_.block * static_cast<int64_t>(sizeof(T)));
    parallel_for(run.threads, ceil_div(blocks, chunk), [&](int64_t c) {
      for (int64_t b = c * chunk; b < std::min(blocks, (c + 1) * chunk); ++b)
        sum_block(static_cast<const T*>(run.in_[0].data), static_cast<T*>(run.out_[0].data) + b * view_.block, b);
    });
    run.set_out_rows(0, rows);
  }

 private:
  using Acc = std::conditional_t<std::is_same_v<T, double>, double, float>;
  static constexpr int64_t kPart = 64;

  void sum_block(const T* dy, T* dx, int64_t b) const {
    for (int64_t begin = 0; begin < view_.block; begin += kPart) {
      const int64_t n = std::min(kPart, view_.block - begin);
      Acc sum[kPart] = {};
      add(0, b, dy + begin, sum, n);
      for (int64_t i = 0; i < n; ++i) dx[begin + i] = static_cast<T>(sum[i]);
    }
  }

  void add(size_t axis, int64_t rest, const T* dy, Acc* sum, int64_t n) const {
    if (axis == view_.axes.size()) {
      for (int64_t i = 0; i < n; ++i) sum[i] += static_cast<Acc>(dy[i]);
      return;
    }
    const PadAxis& a = view_.axes[axis];
    const Places p = places(a, view_.mode, rest / a.stride);
    for (int k = 0; k < p.count; ++k)
      add(axis + 1, rest % a.stride, dy + p.at[static_cast<size_t>(k)] * a.padded_stride * view_.block, sum, n);
  }

  PadView view_;
};

}  // namespace

Kernel pad_cpu(const KernelPlan& plan) {
  const auto& a = plan.attrs<PadAttrs>();
  const PadRows rows(pad_view(plan.in[0].shape, a), HostTensor::full(Shape(), plan.in[0].dtype, a.value));
  return Kernel([rows](const KernelRun& run) { rows.run(run); });
}

Kernel pad_grad_cpu(const KernelPlan& plan) {
  return visit_dtype(plan.in[0].dtype, [&](auto t) -> Kernel {
    if constexpr (std::is_integral_v<decltype(t)>) {
      return Kernel();
    } else {
      const PadGrad<decltype(t)> grad(pad_view(plan.out[0].shape, plan.attrs<PadAttrs>()));
      return Kernel([grad](const KernelRun& run) { grad.run(run); });
    }
  });
}

}  // namespace martello
