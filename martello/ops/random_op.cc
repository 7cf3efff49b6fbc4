#include <martello/base/philox.h>
#include <martello/graph/build_context.h>
#include <martello/ops/internal/random_op.h>
#include <martello/ops/random.h>
#include <martello/ops/variable.h>

namespace martello {

int64_t random_key(uint64_t seed, std::string_view name) {
  constexpr std::string_view tower = "tower";
  const size_t slash = name.find('/');
  if (name.starts_with(tower) && slash != std::string_view::npos && slash > tower.size() &&
      name.substr(tower.size(), slash - tower.size()).find_first_not_of("0123456789") == std::string_view::npos)
    name.remove_prefix(slash + 1);
  return static_cast<int64_t>(stable_hash(name, seed));
}

namespace internal {

void check_counter(const ShapeContext& c) {
  c.check_dtype(0, i64);
  c.check_rank(0, 1);
  MARTELLO_CHECK(c.in[0].shape[0] == 2, c.where(), "its counter has two numbers, not ", c.in[0].shape, ".");
}

RandomSite make_random_site(Name name) {
  auto& context = get_build_context();
  const std::string full = context.graph->unique_name(context.name_scope + std::string(name.text()));
  LineScope line(name.line());
  const Tensor counter = random_counter(full);
  const std::string keyed = counter.node()->def == &op_variable ? counter.name() : full;
  return {counter, random_key(context.graph->seed, keyed), full.substr(context.name_scope.size())};
}

Cost random_cost(std::span<const TensorSpec>, std::span<const TensorSpec> out, const Attrs&) {
  const double n = static_cast<double>(out[0].shape.num_elements());
  return {20 * n, n * static_cast<double>(size_of(out[0].dtype))};
}

}  // namespace internal

}  // namespace martello
