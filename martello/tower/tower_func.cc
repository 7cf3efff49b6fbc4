#include <martello/tower/tower_func.h>

#include <martello/base/error.h>
#include <martello/graph/node.h>
#include <martello/ops/identity.h>
#include <martello/tower/internal/tower_rules.h>

#include <optional>

namespace martello {
namespace {

void check_name(const TensorSpec& spec, size_t i, std::string_view who) {
  MARTELLO_CHECK(!spec.name.empty(), "[", who, "] input ", i, " (", spec, ") of the signature has no name.");
  MARTELLO_CHECK(spec.name.find_first_of(":/ \t\n") == std::string::npos, "[", who, "] input ", i, " is named ",
                 quoted(spec.name), ". A name of the signature has no colon, slash or blank.");
}

bool agrees(const Shape& declared, const Shape& given) {
  if (declared.rank() != given.rank()) return false;
  for (int i = 0; i < declared.rank(); ++i)
    if (declared[i] >= 0 && given[i] >= 0 && declared[i] != given[i]) return false;
  return true;
}

void check_input(const TensorSpec& spec, const Tensor& t) {
  MARTELLO_CHECK(!t.is_null(), "[tower function] input '", spec.name, "' is a null Tensor: it was never assigned.");
  MARTELLO_CHECK(spec.dtype == t.dtype() && agrees(spec.shape, t.shape()), "[tower function] input '", spec.name,
                 "' is ", spec, " in the signature but the tensor given is ", t.dtype(), t.shape(), ".\n  ",
                 t.node()->context());
}

// Makes in["image"] work whatever the tensor is called.
TensorList named(const std::vector<TensorSpec>& signature, const TensorList& inputs) {
  std::vector<Tensor> list = inputs.vector();
  std::optional<NameScope> scope;
  for (size_t i = 0; i < list.size(); ++i) {
    const std::string name = list[i].name();
    if (name == signature[i].name || name.ends_with("/" + signature[i].name)) continue;
    if (!scope) scope.emplace("inputs");
    list[i] = identity(list[i], signature[i].name);
  }
  return list;
}

}  // namespace

void check_signature(const std::vector<TensorSpec>& signature, std::string_view who) {
  for (size_t i = 0; i < signature.size(); ++i) {
    with_line(signature[i].line, [&] {
      check_name(signature[i], i, who);
      for (size_t j = 0; j < i; ++j)
        MARTELLO_CHECK(signature[i].name != signature[j].name, "[", who, "] inputs ", j, " and ", i,
                       " are both named '", signature[i].name, "'. Names of a signature are unique.");
    });
  }
}

struct TowerFunc::Model : internal::TowerModel {};

TowerFunc::TowerFunc(CostFn function, std::vector<TensorSpec> signature) : signature_(std::move(signature)) {
  const int arity = function.arity();
  if (function) function_ = [f = std::move(function)](const TensorList& in) { return TensorList{f(in)}; };
  check();
  MARTELLO_CHECK(arity < 0 || static_cast<size_t>(arity) == signature_.size(), "[tower function] takes ", arity,
                 " tensors but the signature has ", signature_.size(),
                 " inputs. Give it one parameter per input, or a TensorList.");
}

TowerFunc TowerFunc::with_outputs(Fn function, std::vector<TensorSpec> signature) {
  TowerFunc f;
  f.function_ = std::move(function);
  f.signature_ = std::move(signature);
  f.check();
  return f;
}

void TowerFunc::check() const {
  MARTELLO_CHECK(function_, "[tower function] is empty. Give a function that builds the model.");
  check_signature(signature_, "tower function");
}

TensorList TowerFunc::call(const TensorList& inputs) const {
  MARTELLO_CHECK(inputs.size() == signature_.size(), "[tower function] got ", inputs.size(),
                 " tensors but the signature has ", signature_.size(), " inputs.");
  for (size_t i = 0; i < inputs.size(); ++i) check_input(signature_[i], inputs[i]);
  return function_(named(signature_, inputs));
}

TensorList TowerFunc::operator()(const TensorList& inputs) {
  const TowerContext& tower = get_current_tower_context("tower function");
  auto model = std::make_shared<Model>();
  internal::TowerRules rules(tower);
  const TensorList outputs = call(inputs);
  static_cast<internal::TowerModel&>(*model) = rules.finish(inputs, outputs);
  if (tower.is_training()) {
    if (model_) internal::check_same_model(*model_, *model);
    else model_ = model;
  }
  auto record = std::make_shared<internal::TowerRecord>(
      internal::TowerRecord{tower.graph(), tower.name(), tower.variable_scope(), tower.is_training(), tower.index(),
                            signature_, inputs, outputs, tower.collections_before(), tower.graph().collections()});
  towers_.push_back(TowerHandle(std::move(record)));
  return outputs;
}

}  // namespace martello
