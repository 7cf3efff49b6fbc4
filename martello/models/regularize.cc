#include <martello/models/regularize.h>

#include <martello/base/error.h>
#include <martello/base/log.h>
#include <martello/graph/core_ops.h>
#include <martello/ops/add_n.h>
#include <martello/ops/cast.h>
#include <martello/ops/identity.h>
#include <martello/ops/norms.h>
#include <martello/ops/unary.h>
#include <martello/tower/tower_context.h>

#include <regex>

namespace martello {
namespace {

std::regex compiled(std::string_view text, Name name) try {
  return std::regex(text.begin(), text.end());
} catch (const std::regex_error& e) {
  throw InvalidArgument(
      str("[regularize_cost '", name.text(), "'] ", quoted(text), " is not a regular expression: ", e.what(), "."));
}

Tensor sum_of(const TensorList& terms, Name name) {
  if (terms.empty()) return constant(HostTensor(0.f), name);
  TensorList floats;
  for (const Tensor& t : terms) floats.push_back(t.dtype() == f32 ? t : cast(t, f32));
  return floats.size() == 1 ? identity(floats[0], name) : add_n(floats, name);
}

template <class T>
std::vector<T> candidates(const TowerContext& tower, CollectionKey<T> key) {
  return tower.has_own_variables() ? tower.get_collection_in_tower(key) : tower.graph().collections().get(key);
}

std::vector<Variable> matching(const TowerContext& tower, const std::regex& regex) {
  std::vector<Variable> list;
  for (const Variable& v : candidates(tower, kTrainableVariables))
    if (std::regex_search(tower.without_tower(v.handle().name()), regex)) list.push_back(v);
  return list;
}

void log_matches(const TowerContext& tower, const std::vector<Variable>& list, std::string_view regex) {
  if (!tower.is_main_training_tower()) return;
  std::vector<std::string> names;
  for (const Variable& v : list) names.push_back(v.handle().name());
  if (names.empty()) logger::warn("[regularize_cost] no trainable variable matches ", quoted(regex), ".");
  else logger::info("[regularize_cost] ", names.size(), " variables: ", join(names), ".");
}

Tensor cost_of(const std::vector<Variable>& list, const Regularizer& f, Name name) {
  TensorList terms;
  {
    NameScope scope(name.text());
    for (const Variable& v : list) {
      const Tensor term = f(v);
      MARTELLO_CHECK(!term.is_null(), "[regularize_cost '", name.text(), "'] the regularizer gives a null Tensor for '",
                     v.handle().name(), "'.");
      terms.push_back(term);
    }
  }
  return sum_of(terms, name);
}

}  // namespace

Regularizer l2_regularizer(double scale) {
  return [scale](Variable w) { return l2_loss(w) * scale; };
}
Regularizer l1_regularizer(double scale) {
  return [scale](Variable w) { return reduce_sum(abs(w)) * scale; };
}

Tensor regularize_cost(std::string_view regex, Regularizer f, Name name) {
  return with_line(name.line(), [&] {
    const TowerContext& tower = get_current_tower_context("regularize_cost");
    MARTELLO_CHECK(f, "[regularize_cost '", name.text(), "'] the regularizer is empty.");
    const std::regex expression = compiled(regex, name);
    if (!tower.is_training()) return sum_of({}, name);
    const auto list = matching(tower, expression);
    log_matches(tower, list, regex);
    return cost_of(list, f, name);
  });
}

Tensor regularize_cost_from_collection(Name name) {
  return with_line(name.line(), [&] {
    const TowerContext& tower = get_current_tower_context("regularize_cost_from_collection");
    if (!tower.is_training()) return sum_of({}, name);
    return sum_of(candidates(tower, kRegularizationLosses), name);
  });
}

}  // namespace martello
