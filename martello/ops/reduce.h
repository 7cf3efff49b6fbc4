#pragma once
#include <martello/ops/axes.h>

// Reductions over axes. No axes means all of them; keep_dims leaves a 1 in place of each.
namespace martello {

struct ReduceAttrs {
  Axes axes = {};
  bool keep_dims = false;
  bool operator==(const ReduceAttrs&) const = default;
  static void fields(auto& self, auto&& f) {
    f("axes", self.axes);
    f("keep_dims", self.keep_dims);
  }
};

struct AxesAttrs {
  Axes axes = {};
  bool operator==(const AxesAttrs&) const = default;
  static void fields(auto& self, auto&& f) { f("axes", self.axes); }
};

// Of no elements: 0. Integers wrap around.
Tensor reduce_sum(Operand x, ReduceAttrs attrs = {}, Name name = "reduce_sum");
Tensor reduce_sum(Operand x, Name name);
// Of no elements: NaN. Floating types only.
Tensor reduce_mean(Operand x, ReduceAttrs attrs = {}, Name name = "reduce_mean");
Tensor reduce_mean(Operand x, Name name);
// NaN when one element is. Of no elements: the lowest value of the type (-inf).
Tensor reduce_max(Operand x, ReduceAttrs attrs = {}, Name name = "reduce_max");
Tensor reduce_max(Operand x, Name name);
// NaN when one element is. Of no elements: the highest value of the type (inf).
Tensor reduce_min(Operand x, ReduceAttrs attrs = {}, Name name = "reduce_min");
Tensor reduce_min(Operand x, Name name);
// Of no elements: 1. Integers wrap around.
Tensor reduce_prod(Operand x, ReduceAttrs attrs = {}, Name name = "reduce_prod");
Tensor reduce_prod(Operand x, Name name);
// Of bools. Of no elements: true.
Tensor reduce_all(Operand x, ReduceAttrs attrs = {}, Name name = "reduce_all");
Tensor reduce_all(Operand x, Name name);
// Of bools. Of no elements: false.
Tensor reduce_any(Operand x, ReduceAttrs attrs = {}, Name name = "reduce_any");
Tensor reduce_any(Operand x, Name name);

// Each element's product of all the others along `axes`, without a division: the derivative of reduce_prod.
Tensor product_of_others(Operand x, AxesAttrs attrs = {}, Name name = "product_of_others");

extern const OpDef op_reduce_sum, op_reduce_mean, op_reduce_max, op_reduce_min, op_reduce_prod, op_reduce_all,
    op_reduce_any, op_product_of_others;

namespace internal {
// What a reduction with ReduceAttrs does to rows that depend on data.
Rows reduce_rows(const ShapeContext& c, size_t input);
// t, which is x reduced by these attributes, as it was with keep_dims: it broadcasts against x.
Tensor with_kept_dims(Tensor t, Tensor x, const ReduceAttrs& attrs);
}  // namespace internal

}  // namespace martello
