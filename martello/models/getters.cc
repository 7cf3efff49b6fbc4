#include <martello/models/getters.h>

#include <martello/base/error.h>
#include <martello/graph/build_context.h>
#include <martello/ops/identity.h>

#include <map>
#include <set>

namespace martello {
namespace {

Variable frozen(const FreezeOptions& freeze, const NextGetter& next, const std::string& name,
                const VariableOptions& asked) {
  if (!asked.trainable) return next(name, asked);
  VariableOptions options = asked;
  if (freeze.skip_collection) {
    options.trainable = false;
    options.collections.push_back(kModelVariables);
  }
  const Variable v = next(name, options);
  return freeze.stop_gradient ? Variable(v.handle(), stop_gradient(v, "frozen")) : v;
}

Variable remapped(const std::function<Tensor(Variable)>& f, const NextGetter& next, const std::string& name,
                  const VariableOptions& options) {
  const Variable v = next(name, options);
  if (!options.trainable) return v;
  const Tensor value = f(v);
  MARTELLO_CHECK(!value.is_null() && value.shape() == v.shape() && value.dtype() == v.dtype(), "[remap_variables '",
                 name, "'] the function gives ", value.is_null() ? "a null Tensor" : str(value.dtype(), value.shape()),
                 " for a variable ", v.dtype(), v.shape(), ". They must be equal.");
  return Variable(v.handle(), value);
}

}  // namespace

FreezeVariables::FreezeVariables(FreezeOptions options)
    : scope_([options](const NextGetter& next, const std::string& name, const VariableOptions& asked) {
        return frozen(options, next, name, asked);
      }) {}

RemapVariables::RemapVariables(std::function<Tensor(Variable)> f)
    : scope_([f = std::move(f)](const NextGetter& next, const std::string& name, const VariableOptions& asked) {
        return remapped(f, next, name, asked);
      }) {}

namespace internal {

struct ReuseCalls::Seen {
  using Key = std::weak_ptr<Graph::Impl>;
  std::map<Key, std::set<std::string>, std::owner_less<Key>> scopes;
};

ReuseCalls::ReuseCalls() : seen_(std::make_shared<Seen>()) {}

bool ReuseCalls::is_first() {
  Graph::Impl& graph = get_build_context("auto_reuse").graph->root();
  return seen_->scopes[graph.weak_from_this()].insert(VariableScope::current_name()).second;
}

}  // namespace internal
}  // namespace martello
