#pragma once
#include <martello/loop/callback.h>
#include <martello/optim/optimizer.h>

#include <string>
#include <vector>

namespace martello {

// One training tower that a mode wants.
struct TowerSpec {
  std::string name = {};            // of its name scope
  std::string variable_scope = {};  // non-empty: variables of its own
  std::string device = {};          // "" leaves the choice to the planner
};

// How towers are made and their gradients combined: a value that every trainer of costs takes.
class ParallelMode {
 public:
  ParallelMode() = default;
  ParallelMode(ParallelMode&&) = default;
  virtual ~ParallelMode() = default;

  virtual std::vector<TowerSpec> towers() const = 0;
  // Combines the gradients of one cost, given by tower, and applies them; outside all towers.
  virtual Operation apply(const std::vector<GradVars>& by_tower, Optimizer& optimizer, Name name) = 0;
  // What keeps the towers or processes together; registered after those of the input.
  virtual CallbackList callbacks() { return {}; }
  virtual bool is_chief() const { return true; }
};

// One device: gradients are applied as they are.
class OneTower : public ParallelMode {
 public:
  explicit OneTower(std::string device = "") : device_(std::move(device)) {}
  std::vector<TowerSpec> towers() const override;
  Operation apply(const std::vector<GradVars>& by_tower, Optimizer& optimizer, Name name) override;

 private:
  std::string device_;
};

// OneTower(), made where only its users pay for it.
Ref<ParallelMode> one_tower();

// Throws unless all towers have gradients of the same variables, in the same order (rule 1 of tower functions).
void check_same_gradients(const std::vector<GradVars>& by_tower, const std::vector<TowerSpec>& towers);

}  // namespace martello
