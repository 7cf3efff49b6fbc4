#include <martello/base/error.h>
#include <martello/ops/dims.h>
#include <martello/ops/internal/permutation.h>
#include <martello/ops/transpose.h>

namespace martello {

Kernel transpose_cpu(const KernelPlan&);

namespace internal {

std::vector<int> full_permutation(const std::vector<int>& perm, int rank) {
  std::vector<int> full = perm;
  for (int& p : full) p = normalized_axis(p, rank);
  for (int i = rank; perm.empty() && i-- > 0;) full.push_back(i);
  return full;
}

}  // namespace internal

namespace {

std::vector<int> checked_permutation(const ShapeContext& c) {
  const auto& perm = c.attrs<TransposeAttrs>().perm;
  const int rank = c.in[0].shape.rank();
  const auto text = [&] { return internal::dims_text({perm.begin(), perm.end()}); };
  MARTELLO_CHECK(perm.empty() || static_cast<int>(perm.size()) == rank, c.where(), "perm ", text(), " names ",
                 perm.size(), " dimensions, x ", c.in[0].str(), " has ", rank, ".");
  std::vector<bool> seen(static_cast<size_t>(rank), false);
  for (const int p : perm) {
    const size_t axis = static_cast<size_t>(c.check_axis(0, p));
    MARTELLO_CHECK(!seen[axis], c.where(), "perm ", text(), " names dimension ", axis, " of x ", c.in[0].str(),
                   " twice. Name each once.");
    seen[axis] = true;
  }
  return internal::full_permutation(perm, rank);
}

std::vector<TensorSpec> transpose_shape(const ShapeContext& c) {
  Shape y;
  for (const int p : checked_permutation(c)) y.push_back(internal::dim_of(c.in[0].shape, p));
  return {{.shape = y, .dtype = c.in[0].dtype}};
}

// dx = dy with the inverse permutation
TensorList transpose_gradient(const GradContext& c) {
  const auto perm = internal::full_permutation(c.attrs<TransposeAttrs>().perm, c.input(0).rank());
  std::vector<int> inverse(perm.size());
  for (size_t i = 0; i < perm.size(); ++i) inverse[static_cast<size_t>(perm[i])] = static_cast<int>(i);
  return TensorList{transpose(c.grad(0), inverse)};
}

}  // namespace

constinit const OpDef op_transpose = {
    .name = "transpose",
    .doc = "y = x with its dimensions in another order: dimension i of y is perm[i] of x; no perm reverses them",
    .inputs = {"x"},
    .outputs = {"y"},
    .attrs = &attrs_type<TransposeAttrs>,
    .shape = transpose_shape,
    .gradient = transpose_gradient,
    .cpu = transpose_cpu,
    .rows_of = [](const ShapeContext& c, size_t) { return internal::same_if(checked_permutation(c)[0] == 0); },
    .cost = internal::copy_cost,
    .family = "Shapes",
};

Tensor transpose(Operand x, std::vector<int> perm, Name name) {
  return add_op(op_transpose, {x}, TransposeAttrs{std::move(perm)}, name);
}

}  // namespace martello
