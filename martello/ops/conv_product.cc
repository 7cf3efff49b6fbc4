#include <martello/base/checked.h>
#include <martello/base/threads.h>
#include <martello/ops/internal/conv_product.h>
#include <martello/ops/internal/matmul_factors.h>
#include <martello/ops/internal/matmul_plan.h>
#include <martello/tensor/buffer.h>

#include <algorithm>
#include <array>

// Note [Convolution as a product]: with the pixels under the window of each output as the rows of a matrix,
//   y = patches(x) kernel + bias      dkernel = patches(x)^T dy      patches(dx) = dy kernel^T where these are pixels
// and the kernel [height, width, in, out] is the matrix that its variable holds. The library's convolutions want it in
// another order, and copying it costs more than what they gain when there are few pixels. A window of one pixel needs
// no patches either: x is the matrix. In bf16 the library multiplies matrices faster than it makes gradients: by AMX
// all of them, by AVX512_BF16 those of kernels, unless there are very many pixels.
namespace martello::internal {
namespace {

constexpr int64_t kFewPixels = 512, kManyPixels = 1 << 14;  // measured, as the limit below

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
  int64_t patch_bytes(DType dtype) const {
    const int64_t bytes = checked_mul(checked_mul(pixels, depth), size_of(dtype));
    return has_patches ? align_up(bytes, Buffer::kAlignment) : 0;
  }
};

// The numbers under the window of one output.
template <class T>
void gather_patch(const ConvProblem& p, const T* image, int64_t row, int64_t column, T* patch) {
  for (int64_t i = 0; i < p.axes[0].window; ++i)
    for (int64_t j = 0; j < p.axes[1].window; ++j, patch += p.in_channels) {
      const int64_t y = input_under(p.axes[0], row, i), x = input_under(p.axes[1], column, j);
      if (y < 0 || x < 0) std::fill_n(patch, p.in_channels, T{});
      else std::copy_n(image + (y * p.axes[1].in + x) * p.in_channels, p.in_channels, patch);
    }
}

template <class T>
void gather_patches_of(const KernelRun& run, const ConvProblem& p, int64_t depth) {
  const auto* x = static_cast<const T*>(run.in_[0].data);
  auto* patches = reinterpret_cast<T*>(run.scratch);
  const int64_t rows = p.axes[0].out, columns = p.axes[1].out, image = p.axes[0].in * p.axes[1].in * p.in_channels;
  parallel_for(run.threads, p.batch * rows, [&](int64_t i) {
    for (int64_t j = 0; j < columns; ++j)
      gather_patch(p, x + i / rows * image, i % rows, j, patches + (i * columns + j) * depth);
  });
}

void gather_patches(const KernelRun& run, const ConvProblem& p, int64_t depth) {
  if (p.dtype == bf16) gather_patches_of<uint16_t>(run, p, depth);  // its bits
  else gather_patches_of<float>(run, p, depth);
}

// Rows of a product, one for each pixel of dy, to the pixels of dx that they are the gradients of; the others are zero.
void spread_pixels(const KernelRun& run, const ConvProblem& p) {
  const auto* rows = reinterpret_cast<const float*>(run.scratch);
  const WindowAxis &h = p.axes[0], &w = p.axes[1];
  // The output that sees this pixel, or -1.
  const auto seen_by = [](const WindowAxis& a, int64_t i) {
    const int64_t at = i + a.before;
    return at % a.stride == 0 && at / a.stride < a.out ? at / a.stride : -1;
  };
  parallel_for(run.threads, p.batch * h.in, [&](int64_t i) {
    const int64_t row = seen_by(h, i % h.in), first = (i / h.in * h.out + row) * w.out;
    float* dx = run.out<float>(0).data() + i * w.in * p.in_channels;
    for (int64_t j = 0; j < w.in; ++j, dx += p.in_channels) {
      const int64_t column = row < 0 ? -1 : seen_by(w, j);
      if (column < 0) std::fill_n(dx, p.in_channels, 0.0f);
      else std::copy_n(rows + (first + column) * p.in_channels, p.in_channels, dx);
    }
  });
}

Kernel plan_product(const KernelPlan& plan, const ProductSizes& s, DType factors, const ConvTask& task) {
  const bool gives_kernel = task.direction == ConvDirection::grad_kernel,
             gives_x = task.direction == ConvDirection::grad_input;
  const Shape x{s.pixels, s.depth}, y{s.pixels, s.channels}, kernel{s.depth, s.channels};
  std::vector<TensorSpec> in{{.shape = gives_x ? y : x, .dtype = factors},
                             {.shape = gives_kernel ? y : kernel, .dtype = factors}};
  if (task.has_bias) in.push_back({.shape = Shape(s.channels), .dtype = f32});
  if (task.has_addend) in.push_back({.shape = y, .dtype = f32});
  const std::array<TensorSpec, 1> out{{{.shape = gives_x ? x : gives_kernel ? kernel : y, .dtype = f32}}};
  KernelPlan product = plan;
  product.in = in;
  product.out = out;
  return plan_product_by_rules(product, {.transpose_a = gives_kernel,
                                         .transpose_b = gives_x,
                                         .has_bias = task.has_bias,
                                         .has_addend = task.has_addend,
                                         .relu = task.relu});
}

}  // namespace

bool is_for_product(const ConvProblem& p, ConvDirection direction) {
  const bool is_plain = (p.dtype == f32 || p.dtype == bf16) && !p.is_narrow && p.format == DataFormat::nhwc &&
                        p.groups == 1 && !p.has_no_elements();
  if (!is_plain) return false;
  const ProductSizes s(p);
  const bool is_few = s.pixels <= kFewPixels;
  if (s.is_one_tap(p)) return is_few || p.dtype == bf16;
  // Patches no larger than the kernel; pixels of dx belong to one patch only.
  return is_few && s.pixels <= s.channels && direction != ConvDirection::grad_input;
}

namespace {

bool is_faster_in_bf16(const ProductSizes& s, ConvDirection direction, onednn::Bf16 library) {
  if (library == onednn::Bf16::tiles) return direction != ConvDirection::forward;
  return library == onednn::Bf16::native && direction == ConvDirection::grad_kernel && s.pixels <= kManyPixels;
}

}  // namespace

bool is_product_faster(const ConvProblem& p, ConvDirection direction, onednn::Bf16 library) {
  if (!is_for_product(p, direction)) return false;
  const ProductSizes s(p);
  if (p.dtype == bf16) return s.is_one_tap(p) && is_faster_in_bf16(s, direction, library);
  // Making patches must cost less than copying the kernel. A result loses more by them than by the copy where that is
  // kept from run to run.
  const bool is_wide_gradient = direction == ConvDirection::grad_kernel && s.pixels <= s.channels / 2;
  return direction != ConvDirection::grad_input && (s.is_one_tap(p) || is_wide_gradient);
}

Kernel product_kernel(const KernelPlan& plan, const ConvProblem& p, const ConvTask& task) {
  const ProductSizes s(p);
  const Kernel product = plan_product(plan, s, p.dtype, task);
  const bool gives_kernel = task.direction == ConvDirection::grad_kernel,
             gives_x = task.direction == ConvDirection::grad_input;
  const int64_t patch_bytes = s.patch_bytes(gives_x ? f32 : p.dtype);
  const auto bind = [=, inputs = task.inputs()](const KernelRun& addresses) -> BoundKernel {
    return [=, call = product.bind(addresses)](const KernelRun& run) {
      std::array<RunTensor, kMostInputs> in;
      std::copy_n(run.in_, inputs, in.begin());
      RunTensor out = run.out_[0];
      if (s.has_patches) {
        if (!gives_x) gather_patches(run, p, s.depth);
        (gives_x ? out : in[0]) = {run.scratch, s.pixels * s.depth, s.pixels};
      }
      in[0].rows = s.pixels;
      in[1].rows = gives_kernel ? s.pixels : s.depth;
      call(KernelRun{in.data(), &out, run.scratch + patch_bytes, run.params, run.threads});
      if (s.has_patches && gives_x) spread_pixels(run, p);
    };
  };
  return Kernel::with_bind(bind)
      .scratch(checked_add(patch_bytes, product.scratch_bytes()))
      .implementation(product.implementation());
}

}  // namespace martello::internal
