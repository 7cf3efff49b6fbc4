#include <martello/base/error.h>
#include <martello/ops/broadcast.h>
#include <martello/ops/cast.h>
#include <martello/ops/dims.h>
#include <martello/ops/internal/matmul_plan.h>
#include <martello/ops/internal/matmul_shape.h>
#include <martello/ops/matmul.h>
#include <martello/ops/reshape.h>

namespace martello::internal {
namespace {

constexpr DTypeSet kMatmulDTypes = DTypeSet::of(f32, f64, i32, i64);

void check_matmul_dtypes(const ShapeContext& c, const MatmulAttrs& attrs, const char* a, const char* b) {
  MARTELLO_CHECK(c.in[0].dtype == c.in[1].dtype, c.where(), a, " is ", c.in[0].str(), " but ", b, " is ", c.in[1].str(),
                 ". Use cast().");
  if (attrs.widen) return c.check_dtype(0, bf16);
  MARTELLO_CHECK(kMatmulDTypes.has(c.in[0].dtype), c.where(), "has kernels for ", kMatmulDTypes, " but ", a, " is ",
                 c.in[0].str(), ". Use cast().");
}

std::string transposed_text(bool transpose) { return transpose ? " transposed" : ""; }

double flops_of(double m, double n, double k, double batch) { return 2 * m * n * k * batch; }

}  // namespace

TensorSpec matmul_spec(const ShapeContext& c, const MatmulAttrs& attrs, const char* a, const char* b) {
  check_matmul_dtypes(c, attrs, a, b);
  const bool transpose_a = attrs.transpose_a, transpose_b = attrs.transpose_b;
  const Shape &sa = c.in[0].shape, &sb = c.in[1].shape;
  const int ra = sa.rank(), rb = sb.rank();
  MARTELLO_CHECK(ra >= 2 && rb >= 2, c.where(), "needs matrices, rank 2 or more, but ", a, " is ", sa, " and ", b,
                 " is ", sb, ". Use expand_dims() on a vector.");
  const int64_t m = dim_of(sa, transpose_a ? ra - 1 : ra - 2), ka = dim_of(sa, transpose_a ? ra - 2 : ra - 1);
  const int64_t kb = dim_of(sb, transpose_b ? rb - 1 : rb - 2), n = dim_of(sb, transpose_b ? rb - 2 : rb - 1);
  MARTELLO_CHECK(may_be_equal(ka, kb), c.where(), a, " has ", ka, " columns but ", b, " has ", kb, " rows (", a, " ",
                 sa, transposed_text(transpose_a), ", ", b, " ", sb, transposed_text(transpose_b),
                 "). They must be equal; transposing one is an attribute.");
  const auto batch = broadcast(sa.slice(0, ra - 2), sb.slice(0, rb - 2));
  MARTELLO_CHECK(batch.has_value(), c.where(), "dimensions before the last two do not broadcast: ", a, " ", sa, ", ", b,
                 " ", sb, ". They must be equal or 1.");
  Shape y = *batch;
  y.push_back(m);
  y.push_back(n);
  return {.shape = y, .dtype = attrs.widen ? f32 : c.in[0].dtype};
}

Rows matmul_rows(const ShapeContext& c, size_t input, bool transpose_a, bool transpose_b) {
  const int ra = c.in[0].shape.rank(), rb = c.in[1].shape.rank();
  const int own = input == 0 ? ra : rb, other = input == 0 ? rb : ra;
  if (own > 2) return same_if(elementwise_rows(c, input) == Rows::same);
  if (other > 2) return Rows::refused;
  if (input == 0) return transpose_a ? Rows::reduced : Rows::same;
  return transpose_b ? Rows::refused : Rows::reduced;
}

Cost matmul_cost(std::span<const TensorSpec> in, std::span<const TensorSpec> out, bool transpose_a) {
  const Shape &a = in[0].shape, &y = out[0].shape;
  const double k = static_cast<double>(a[transpose_a ? -2 : -1]);
  const double m = static_cast<double>(y[-2]), n = static_cast<double>(y[-1]);
  const double batch = static_cast<double>(y.num_elements(0, y.rank() - 2));
  Cost cost{flops_of(m, n, k, batch), 0};
  for (auto list : {in, out})
    for (const TensorSpec& t : list)
      cost.bytes += static_cast<double>(t.shape.num_elements()) * static_cast<double>(size_of(t.dtype));
  return cost;
}

bool is_large_product(const KernelPlan& plan, bool transpose_a) {
  return matmul_cost(plan.in, plan.out, transpose_a).flops / 2 > kSmallProduct;
}

namespace {

// [..., r, c] as [all before, c]: how a batch meets a matrix that all of it shares. Null when c is unknown.
Tensor as_matrix(Tensor x) {
  if (x.rank() == 2) return x;
  const int64_t columns = x.dim(-1);
  return columns > 0 ? reshape(x, {int64_t{-1}, columns}) : Tensor();
}

// A matrix b beside a batch a: one product over all rows instead of one per batch, summed later.
Tensor shared_b_gradient(Tensor a, Tensor dy, const MatmulAttrs& of) {
  const Tensor rows_a = as_matrix(a), rows_dy = as_matrix(dy);
  if (rows_a.is_null() || rows_dy.is_null()) return Tensor();
  const MatmulAttrs attrs{.transpose_a = true, .widen = of.widen};
  return of.transpose_b ? matmul(rows_dy, rows_a, attrs) : matmul(rows_a, rows_dy, attrs);
}

// y = a b: da = dy b^T.  y = a^T b: da = b dy^T; with b transposed on demand.
Tensor a_gradient(Tensor b, Tensor dy, const MatmulAttrs& of) {
  if (of.transpose_a) return matmul(b, dy, {.transpose_a = of.transpose_b, .transpose_b = true, .widen = of.widen});
  return matmul(dy, b, {.transpose_b = !of.transpose_b, .widen = of.widen});
}

// y = a b: db = a^T dy.  y = a b^T: db = dy^T a; with a transposed on demand.
Tensor b_gradient(Tensor a, Tensor dy, const MatmulAttrs& of) {
  if (of.transpose_b) return matmul(dy, a, {.transpose_a = true, .transpose_b = of.transpose_a, .widen = of.widen});
  return matmul(a, dy, {.transpose_a = !of.transpose_a, .widen = of.widen});
}

}  // namespace

MatmulGradients matmul_gradients(const GradContext& c, Tensor dy, const MatmulAttrs& attrs) {
  const Tensor a = c.input(0), b = c.input(1);
  if (attrs.widen) dy = cast(dy, bf16);
  MatmulGradients d;
  if (c.needed[0]) d.a = a_gradient(b, dy, attrs);
  if (c.needed[1] && b.rank() == 2 && a.rank() > 2 && !attrs.transpose_a) d.b = shared_b_gradient(a, dy, attrs);
  if (c.needed[1] && d.b.is_null()) d.b = b_gradient(a, dy, attrs);
  if (!attrs.widen) return d;
  if (!d.a.is_null()) d.a = cast(d.a, bf16);
  if (!d.b.is_null()) d.b = cast(d.b, bf16);
  return d;
}

}  // namespace martello::internal
