#include <martello/ops/internal/attention_plan.h>

namespace martello::internal {
namespace {

// Where the matrix of each batch begins in a mask that broadcasts.
std::vector<int64_t> mask_offsets(const Shape& mask, const Shape& scores) {
  std::vector<int64_t> offsets{0};
  const int missing = scores.rank() - mask.rank();
  for (int i = 0; i + 2 < scores.rank(); ++i) {
    const bool is_walked = i >= missing && mask[i - missing] != 1;
    const int64_t stride = is_walked ? mask.num_elements(i - missing + 1, mask.rank()) : 0;
    std::vector<int64_t> next;
    for (int64_t offset : offsets)
      for (int64_t k = 0; k < scores[i]; ++k) next.push_back(offset + k * stride);
    offsets = std::move(next);
  }
  return offsets;
}

}  // namespace

AttentionPlan::AttentionPlan(const KernelPlan& plan, int mask_input) {
  const Shape &q = plan.in[0].shape, &v = plan.in[2].shape;
  const auto& attrs = plan.attrs<AttentionAttrs>();
  batches = q.num_elements(0, q.rank() - 2);
  queries = q[-2];
  keys = v[-2];
  width = q[-1];
  values = v[-1];
  is_causal = attrs.causal;
  scale = attrs.scale != 0 ? attrs.scale : 1 / std::sqrt(static_cast<double>(std::max<int64_t>(width, 1)));
  const auto at = static_cast<size_t>(mask_input);
  if (plan.in.size() <= at || is_empty()) return;
  const Shape& shape = plan.in[at].shape;
  mask = mask_input;
  is_mask_kept = plan.in[at].dtype == boolean;
  mask_row = shape.rank() > 1 && shape[-2] != 1 ? keys : 0;
  Shape scores = q.slice(0, q.rank() - 1);
  scores.push_back(keys);
  mask_at = mask_offsets(shape, scores);
}

template <class T>
void PackedRows<T>::multiply(const T* a, int64_t rows, const T* packed, int64_t batch, int64_t key, int64_t count,
                             T* tile, int64_t tile_row) const {
  cpu::gemm_loops<T>().rows({.a = a,
                             .a_row = width_,
                             .a_column = 1,
                             .b = packed + batch * of_batch() + key * width_,
                             .b_row = 0,
                             .is_packed = true,
                             .y = tile,
                             .y_row = tile_row,
                             .bias = nullptr,
                             .relu = false,
                             .k = width_,
                             .first_row = 0,
                             .last_row = rows,
                             .first_column = 0,
                             .last_column = count});
}

template <class T>
void PlainProduct<T>::run() const {
  cpu::gemm_loops<T>().rows({.a = a,
                             .a_row = a_row,
                             .a_column = a_column,
                             .b = b,
                             .b_row = columns,
                             .is_packed = false,
                             .y = y,
                             .y_row = columns,
                             .bias = nullptr,
                             .relu = false,
                             .k = k,
                             .first_row = 0,
                             .last_row = rows,
                             .first_column = 0,
                             .last_column = columns,
                             .adds = adds});
}

template class PackedRows<float>;
template class PackedRows<double>;
template struct PlainProduct<float>;
template struct PlainProduct<double>;

}  // namespace martello::internal
