#pragma once
#include <martello/graph/op_def.h>
#include <martello/ops/custom_gradient.h>

#include <optional>
#include <vector>

namespace martello {

struct GradientOptions {
  // What to do with an x that no y depends on: refuse it, give zeros, or give a null Tensor.
  enum class Unconnected { error, zeros, null };
  Unconnected unconnected = Unconnected::error;
};

// d(sum of ys)/d(xs), as new nodes of the current graph; each y is weighted by grad_ys (default: ones). The result can
// be differentiated again. A path through an op that is not differentiable is refused with both ends named.
TensorList gradients(const TensorList& ys, const TensorList& xs, const TensorList& grad_ys = {},
                     GradientOptions options = {}, Name name = "gradients");

// The gradient of a table of which only some rows were read: d(table)[indices[i]] += values[i].
struct RowSparse {
  Tensor indices;  // [n]
  Tensor values;   // [n, ...]
  Shape shape;     // of the table
};
// A gradient that is known to touch only some rows; nothing for any other tensor. The dense form costs nothing unless
// it is used.
std::optional<RowSparse> find_row_sparse(Tensor gradient);

}  // namespace martello
