#pragma once
#include <martello/train/single_cost_trainer.h>

#include <string>
#include <vector>

namespace martello {

struct NamedCost {
  std::string name;
  Tensor value;
};
using Costs = std::vector<NamedCost>;
using CostsFn = TowerFunction<Costs>;

// How one cost is minimized.
struct CostSpec {
  std::string name = {};
  std::string variables = {};  // the prefix of those it trains: "gen/"
  OptimizerFn optimizer = {};
  int64_t every = 1;  // minimized in steps 0, every, 2 * every ...; at least one cost in every step
};

// A model with several costs, each with variables and an optimizer of its own (GAN, alternating, multi-task).
class MultiCostModel {
 public:
  MultiCostModel() = default;
  MultiCostModel(MultiCostModel&&) = default;
  MultiCostModel(const MultiCostModel&) = default;
  virtual ~MultiCostModel() = default;
  virtual std::vector<TensorSpec> inputs() const = 0;
  virtual Costs build_graph(TensorList in) const = 0;
  virtual std::vector<CostSpec> costs() const = 0;
};

enum class Updates : uint8_t {
  one_run,       // all costs on one datapoint; updates apply in the order of the list
  separate_runs  // each cost in a hooked run of its own, on a datapoint of its own
};

class MultiCostTrainer : public TowerTrainer {
 public:
  explicit MultiCostTrainer(Ref<ParallelMode> mode = one_tower(), Updates updates = Updates::one_run);

  // Once.
  void setup_graph(std::vector<TensorSpec> signature, Ref<InputSource> input, CostsFn get_costs,
                   std::vector<CostSpec> costs, SourceLine line = SourceLine::current());
  void setup_graph(Ref<MultiCostModel> model, Ref<InputSource> input, SourceLine line = SourceLine::current());
  bool is_chief() const override { return mode_->is_chief(); }

 protected:
  void run_step() override;
  bool makes_one_run_per_step() const override { return updates_mode_ == Updates::one_run; }
  std::vector<std::string> devices() const override;

 private:
  struct Update {
    int64_t every = 1;
    Operation op;
  };
  void build_updates(InputSource& input, const std::vector<CostSpec>& specs, SourceLine line);

  Ref<ParallelMode> mode_;
  Updates updates_mode_;
  std::vector<Update> updates_;
  std::vector<Fetch> due_;
};

}  // namespace martello
