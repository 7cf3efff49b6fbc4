#pragma once
#include <martello/ops/conv2d.h>
#include <martello/ops/linear.h>

#include <algorithm>

namespace martello::internal {

// The tensor that a convolution computes from the two others.
enum class ConvDirection { forward, grad_input, grad_kernel };
inline std::vector<std::string> enum_names(ConvDirection) { return {"forward", "grad_input", "grad_kernel"}; }

// What a convolution computes. A bias, input 2, an addend that is like the result, and ReLU come after the sums of
// conv2d, in this order.
struct ConvTask {
  ConvDirection direction = ConvDirection::forward;
  bool has_bias = false, has_addend = false, relu = false;
  int addend() const { return has_bias ? 3 : 2; }
  int inputs() const { return addend() + has_addend; }
  bool has_end() const { return has_bias || has_addend || relu; }
};
// Of conv2d with these inputs: a bias has one dimension, an addend four.
ConvTask conv2d_task(std::span<const TensorSpec> in, LinearActivation activation);

// A kernel in the layout that the library wants for one convolution: `elements` numbers with a meaning only to it. The
// layout may depend on the number of threads and on which implementation of the library takes it.
struct KernelPacking {
  Shape kernel = {};  // what it holds
  int64_t elements = 0;
  int threads = 1;
  std::string implementation = {};  // the library's first when empty
  bool is_packed() const { return elements > 0; }
  bool operator==(const KernelPacking&) const = default;
  static void fields(auto& self, auto&& f) {
    f("packed_kernel", self.kernel);
    f("packed_elements", self.elements);
    f("packed_threads", self.threads);
    f("packed_for", self.implementation);
  }
};

// Of the three convolution ops.
struct ConvOpAttrs {
  Conv2DAttrs conv = {};
  Shape shape = {};                                      // of the gradient, as far as its inputs do not say it
  LinearActivation activation = LinearActivation::none;  // of conv2d, after the bias
  KernelPacking packing = {};
  bool widen = false;   // inputs 0 and 1 are bf16; bias, sums and result f32
  bool narrow = false;  // of conv2d with `widen` and nothing after its sums: the result is rounded to bf16
  bool operator==(const ConvOpAttrs&) const = default;
  static void fields(auto& self, auto&& f) {
    Conv2DAttrs::fields(self.conv, f);
    f("shape", self.shape);
    f("activation", self.activation);
    KernelPacking::fields(self.packing, f);
    f("widen", self.widen);
    f("narrow", self.narrow);
  }
};

// The sizes of a convolution, whichever of its tensors is computed. Dimensions may be unknown, or symbols.
struct ConvProblem {
  int64_t batch = kUnknown, in_channels = kUnknown, out_channels = kUnknown;
  int64_t groups = 1;
  WindowAxis axes[2] = {};
  DataFormat format = DataFormat::nhwc;
  DType dtype = f32;       // of the two tensors that are multiplied
  bool is_narrow = false;  // bf16 gives bf16

  // `where` begins the text of errors: sizes that do not fit, windows that fit nowhere.
  ConvProblem(const std::string& where, const TensorSpec& x, const Shape& kernel, const Conv2DAttrs& attrs);
  Shape x_shape() const { return image_shape(axes[0].in, axes[1].in, in_channels); }
  Shape y_shape() const { return image_shape(axes[0].out, axes[1].out, out_channels); }
  DType sum_dtype() const { return dtype == bf16 ? f32 : dtype; }
  DType result_dtype() const { return is_narrow ? bf16 : sum_dtype(); }
  DType kernel_dtype(ConvDirection direction) const {
    return direction == ConvDirection::grad_kernel ? result_dtype() : dtype;
  }
  double multiplications() const;  // of known sizes
  bool has_no_elements() const;    // one of its tensors

 private:
  Shape image_shape(int64_t height, int64_t width, int64_t channels) const;
};

// Of a node of one of the three ops.
ConvProblem conv_problem(ConvDirection direction, const std::string& where, std::span<const TensorSpec> in,
                         std::span<const TensorSpec> out, const ConvOpAttrs& attrs);

std::vector<TensorSpec> conv2d_shape(const ShapeContext& c);
std::vector<TensorSpec> grad_input_shape(const ShapeContext& c);
std::vector<TensorSpec> grad_kernel_shape(const ShapeContext& c);

// The input under tap k of output i, or -1 in the padding.
inline int64_t input_under(const WindowAxis& a, int64_t i, int64_t k) {
  const int64_t at = i * a.stride + k * a.dilation - a.before;
  return at < a.in ? std::max<int64_t>(at, -1) : -1;
}
// The dimension of an image batch that counts height (0) or width (1).
inline int spatial_axis(DataFormat format, int axis) { return (format == DataFormat::nhwc ? 1 : 2) + axis; }
// Throws unless a kernel may be packed so.
void check_packing(const std::string& where, const KernelPacking& packing);
// Throws unless `groups` divides `channels`.
void check_groups(const std::string& where, const char* name, int64_t channels, int64_t groups);

}  // namespace martello::internal
