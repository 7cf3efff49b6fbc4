#include <martello/autodiff/accumulate.h>

#include <martello/autodiff/gradients.h>
#include <martello/graph/node.h>
#include <martello/ops/add_n.h>
#include <martello/ops/cast.h>
#include <martello/ops/concat.h>
#include <martello/ops/densify.h>

namespace martello {

std::optional<RowSparse> find_row_sparse(Tensor gradient) {
  if (gradient.is_null() || gradient.node()->def != &op_densify) return std::nullopt;
  return RowSparse{gradient.node()->inputs[0], gradient.node()->inputs[1], gradient.shape()};
}

namespace {

Tensor concat_sparse(const std::vector<RowSparse>& parts) {
  TensorList indices, values;
  for (const RowSparse& p : parts) {
    indices.push_back(p.indices.dtype() == i64 ? p.indices : cast(p.indices, i64));
    values.push_back(p.values);
  }
  return densify(concat(indices, 0), concat(values, 0), parts[0].shape[0]);
}

}  // namespace

Tensor accumulate(const std::vector<Tensor>& contributions) {
  std::vector<RowSparse> sparse;
  for (const Tensor& t : contributions)
    if (auto rows = find_row_sparse(t); rows && rows->shape[0] >= 0) sparse.push_back(*rows);
  return sparse.size() == contributions.size() ? concat_sparse(sparse) : add_n(contributions, "sum");
}

}  // namespace martello
