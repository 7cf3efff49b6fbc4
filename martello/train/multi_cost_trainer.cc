#include <martello/train/multi_cost_trainer.h>

#include <martello/base/error.h>
#include <martello/base/log.h>
#include <martello/graph/node.h>
#include <martello/graph/scopes.h>
#include <martello/train/internal/build_towers.h>
#include <martello/train/internal/trainer_impl.h>

#include <algorithm>

namespace martello {
namespace {

void check_specs(const std::vector<CostSpec>& specs) {
  MARTELLO_CHECK(!specs.empty(), "[multi_cost] there is no cost to minimize. Give at least one CostSpec.");
  int64_t least = specs[0].every;
  for (size_t i = 0; i < specs.size(); ++i) {
    const CostSpec& s = specs[i];
    MARTELLO_CHECK(!s.name.empty(), "[multi_cost] cost ", i, " has no name.");
    MARTELLO_CHECK(s.optimizer, "[multi_cost] cost '", s.name, "' has no optimizer function.");
    MARTELLO_CHECK(s.every > 0, "[multi_cost] cost '", s.name, "' is minimized every ", s.every,
                   " steps. Use 1 or more.");
    for (size_t j = 0; j < i; ++j)
      MARTELLO_CHECK(s.name != specs[j].name, "[multi_cost] costs ", j, " and ", i, " are both named '", s.name, "'.");
    least = std::min(least, s.every);
  }
  MARTELLO_CHECK(least == 1, "[multi_cost] no cost is minimized in every step: the least .every is ", least,
                 ", so some steps would do nothing. Divide all by it.");
}

// The values in the order of the specs.
TensorList in_order(const Costs& costs, const std::vector<CostSpec>& specs) {
  std::vector<std::string> names;
  for (const NamedCost& c : costs) names.push_back(c.name);
  MARTELLO_CHECK(costs.size() == specs.size(), "[multi_cost] the tower function gives ", costs.size(), " costs (",
                 join(names), ") but there are ", specs.size(), " CostSpecs.");
  TensorList values;
  for (const CostSpec& s : specs) {
    const auto found = std::find_if(costs.begin(), costs.end(), [&](const NamedCost& c) { return c.name == s.name; });
    MARTELLO_CHECK(found != costs.end(), "[multi_cost] the tower function gives no cost '", s.name, "'.",
                   did_you_mean(s.name, names));
    MARTELLO_CHECK(!found->value.is_null(), "[multi_cost] cost '", s.name, "' is a null Tensor.");
    MARTELLO_CHECK(found->value.rank() == 0, "[multi_cost] cost '", s.name, "' needs to be a scalar but is ",
                   found->value.dtype(), found->value.shape(), ". Use reduce_mean().\n  ",
                   found->value.node()->context());
    values.push_back(found->value);
  }
  return values;
}

std::vector<Variable> with_prefix(const BuiltTower& tower, const CostSpec& spec) {
  std::vector<Variable> list;
  std::vector<std::string> names;
  for (const Variable& v : tower.variables) {
    const std::string name = tower.context.without_tower(v.handle().name());
    names.push_back(name);
    if (name.starts_with(spec.variables)) list.push_back(v);
  }
  MARTELLO_CHECK(!list.empty(), "[multi_cost] cost '", spec.name, "' trains variables that start with '",
                 spec.variables, "', but there is none among ", names.size(), ": ", join(names), ".");
  return list;
}

void warn_of_untrained(const BuiltTower& tower, const std::vector<CostSpec>& specs) {
  std::vector<std::string> names;
  for (const Variable& v : tower.variables) {
    const std::string name = tower.context.without_tower(v.handle().name());
    if (std::none_of(specs.begin(), specs.end(), [&](const CostSpec& s) { return name.starts_with(s.variables); }))
      names.push_back(str("'", name, "'"));
  }
  if (!names.empty()) logger::warn("[multi_cost] no cost trains these variables: ", join(names), ".");
}

}  // namespace

MultiCostTrainer::MultiCostTrainer(Ref<ParallelMode> mode, Updates updates)
    : mode_(std::move(mode)), updates_mode_(updates) {
  MARTELLO_CHECK(mode_, "[trainer] its parallel mode is null.");
}

std::vector<std::string> MultiCostTrainer::devices() const { return devices_of(*mode_); }

void MultiCostTrainer::setup_graph(Ref<MultiCostModel> model, Ref<InputSource> input, SourceLine line) {
  with_line(line, [&] { MARTELLO_CHECK(model, "[trainer] setup_graph() got a null model."); });
  setup_graph(
      model->inputs(), std::move(input), [model](TensorList in) { return model->build_graph(std::move(in)); },
      model->costs(), line);
}

void MultiCostTrainer::setup_graph(std::vector<TensorSpec> signature, Ref<InputSource> input, CostsFn get_costs,
                                   std::vector<CostSpec> specs, SourceLine line) {
  with_line(line, [&] {
    MARTELLO_CHECK(input, "[trainer] setup_graph() got a null input.");
    MARTELLO_CHECK(get_costs, "[trainer] setup_graph() got an empty tower function.");
    const int arity = get_costs.arity();
    MARTELLO_CHECK(arity < 0 || static_cast<size_t>(arity) == signature.size(), "[tower function] takes ", arity,
                   " tensors but the signature has ", signature.size(),
                   " inputs. Give it one parameter per input, or a TensorList.");
    if (find_tower_func())
      throw FailedPrecondition("[trainer] setup_graph() is called twice: the graph is built once.");
    check_specs(specs);
    set_tower_func(TowerFunc::with_outputs(
        [get_costs, specs](const TensorList& in) { return in_order(get_costs(in), specs); }, signature));
  });
  const GraphScope scope(graph());
  setup_input(*input, signature, mode_->towers().size());
  build_updates(*input, specs, line);
  register_callbacks(callbacks_of(*input), line);
  register_callbacks(mode_->callbacks(), line);
}

void MultiCostTrainer::build_updates(InputSource& input, const std::vector<CostSpec>& specs, SourceLine line) {
  std::vector<OptimizerRef> optimizers(specs.size());
  std::vector<std::vector<GradVars>> gradients(specs.size());  // by cost, then by tower
  build_towers(tower_func(), *mode_, input, [&](const BuiltTower& tower) {
    if (tower.context.index() == 0) warn_of_untrained(tower, specs);
    for (size_t c = 0; c < specs.size(); ++c) {
      if (!optimizers[c]) optimizers[c] = specs[c].optimizer();
      MARTELLO_CHECK(optimizers[c], "[multi_cost] the optimizer function of cost '", specs[c].name, "' returned null.");
      gradients[c].push_back(optimizers[c]->compute_gradients(tower.outputs[c], with_prefix(tower, specs[c])));
    }
  });
  const NameScope scope("optimize");
  for (size_t c = 0; c < specs.size(); ++c) {
    check_same_gradients(gradients[c], mode_->towers());
    const std::string name = specs[c].name + "_min";
    updates_.push_back({specs[c].every, mode_->apply(gradients[c], *optimizers[c], Name(name, line))});
  }
}

void MultiCostTrainer::run_step() {
  if (updates_.empty()) throw WrongUse("[trainer] its graph was never built. Call setup_graph() before train().");
  const int64_t step = (loop().epoch_num - 1) * loop().steps_per_epoch + loop().local_step;
  due_.clear();
  for (const Update& u : updates_) {
    if (step % u.every != 0) continue;
    if (updates_mode_ == Updates::separate_runs) hooked_sess().execute(Fetches(u.op));
    else due_.push_back(Fetch(u.op, SourceLine()));
  }
  if (updates_mode_ == Updates::one_run) hooked_sess().execute(Fetches(due_));
}

}  // namespace martello
