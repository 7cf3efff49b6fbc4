#include <martello/base/checked.h>
#include <martello/base/threads.h>
#include <martello/ops/internal/conv_product.h>
#include <martello/ops/internal/matmul_plan.h>
#include <martello/tensor/buffer.h>

#include <algorithm>
#include <array>

// Note [Convolution as a product]: with the pixels under the window of each output as the rows of a matrix,
//   y = patches(x) kernel + bias      dkernel = patches(x)^T dy
// where the kernel [height, width, in, out] is the matrix that its variable holds. The library's convolutions want it
// in another order, and copying it costs more than what they gain when there are few pixels. A window of one pixel
// needs no patches either: x is the matrix.
namespace martello::internal {
namespace {

constexpr int64_t kFewPixels = 512;  // measured, as the limit below

struct ProductSizes {
  int64_t pixels, depth, channels;  // of y, under a window, of y
  bool has_patches = false;

  explicit ProductSizes(const ConvProblem& p)
      : pixels(checked_mul(p.batch, checked_mul(p.axes[0].out, p.axes[1].out))),
        depth(checked_mul(p.in_channels, checked_mul(p.axes[0].window, p.axes[1].window))),
        channels(p.out_channels) {
    for (const WindowAxis& a : p.axes)
      has_patches = has_patches || a.window > 1 || a.stride > 1 || a.before > 0 || a.after > 0;
  }
  bool is_one_tap(const ConvProblem& p) const { return depth == p.in_channels; }
  int64_t patch_bytes() const {
    const int64_t bytes = checked_mul(checked_mul(pixels, depth), int64_t{sizeof(float)});
    return has_patches ? align_up(bytes, Buffer::kAlignment) : 0;
  }
};

// The numbers under the window of one output.
void gather_patch(const ConvProblem& p, const float* image, int64_t row, int64_t column, float* patch) {
  for (int64_t i = 0; i < p.axes[0].window; ++i)
    for (int64_t j = 0; j < p.axes[1].window; ++j, patch += p.in_channels) {
      const int64_t y = input_under(p.axes[0], row, i), x = input_under(p.axes[1], column, j);
      if (y < 0 || x < 0) std::fill_n(patch, p.in_channels, 0.0f);
      else std::copy_n(image + (y * p.axes[1].in + x) * p.in_channels, p.in_channels, patch);
    }
}

void gather_patches(int threads, const ConvProblem& p, int64_t depth, const float* x, float* patches) {
  const int64_t rows = p.axes[0].out, columns = p.axes[1].out, image = p.axes[0].in * p.axes[1].in * p.in_channels;
  parallel_for(threads, p.batch * rows, [&](int64_t i) {
    for (int64_t j = 0; j < columns; ++j)
      gather_patch(p, x + i / rows * image, i % rows, j, patches + (i * columns + j) * depth);
  });
}

Kernel plan_product(const KernelPlan& plan, const ProductSizes& s, const ConvTask& task) {
  const bool gives_kernel = task.direction == ConvDirection::grad_kernel;
  const TensorSpec x{.shape = {s.pixels, s.depth}, .dtype = f32}, y{.shape = {s.pixels, s.channels}, .dtype = f32},
      kernel{.shape = {s.depth, s.channels}, .dtype = f32}, bias{.shape = Shape(s.channels), .dtype = f32};
  const std::array<TensorSpec, 3> in{x, gives_kernel ? y : kernel, bias};
  const std::array<TensorSpec, 1> out{gives_kernel ? kernel : y};
  KernelPlan product = plan;
  product.in = std::span(in).first(task.has_bias ? 3 : 2);
  product.out = out;
  return plan_product_by_rules(product, {.transpose_a = gives_kernel, .has_bias = task.has_bias, .relu = task.relu});
}

}  // namespace

bool is_for_product(const ConvProblem& p, ConvDirection direction) {
  const bool is_plain = p.dtype == f32 && p.format == DataFormat::nhwc && p.groups == 1 && !p.has_no_elements();
  if (!is_plain || direction == ConvDirection::grad_input) return false;
  const ProductSizes s(p);
  return s.pixels <= kFewPixels && (s.is_one_tap(p) || s.pixels <= s.channels);  // patches no larger than the kernel
}

bool is_product_faster(const ConvProblem& p, ConvDirection direction) {
  if (!is_for_product(p, direction)) return false;
  const ProductSizes s(p);
  // Making patches must cost less than copying the kernel. A result loses more by them than by the copy where that is
  // kept from run to run.
  return s.is_one_tap(p) || (direction == ConvDirection::grad_kernel && s.pixels <= s.channels / 2);
}

Kernel product_kernel(const KernelPlan& plan, const ConvProblem& p, const ConvTask& task) {
  const ProductSizes s(p);
  const Kernel product = plan_product(plan, s, task);
  const bool gives_kernel = task.direction == ConvDirection::grad_kernel;
  const auto bind = [=, inputs = task.has_bias ? 3 : 2](const KernelRun& addresses) -> BoundKernel {
    return [=, call = product.bind(addresses)](const KernelRun& run) {
      std::array<RunTensor, 3> in;
      std::copy_n(run.in_, inputs, in.begin());
      RunTensor out = run.out_[0];
      if (s.has_patches) {
        gather_patches(run.threads, p, s.depth, run.in<float>(0).data(), reinterpret_cast<float*>(run.scratch));
        in[0] = {run.scratch, s.pixels * s.depth, s.pixels};
      }
      in[0].rows = s.pixels;
      in[1].rows = gives_kernel ? s.pixels : s.depth;
      call(KernelRun{in.data(), &out, run.scratch + s.patch_bytes(), run.params, run.threads});
    };
  };
  return Kernel::with_bind(bind)
      .scratch(checked_add(s.patch_bytes(), product.scratch_bytes()))
      .implementation(product.implementation());
}

}  // namespace martello::internal
