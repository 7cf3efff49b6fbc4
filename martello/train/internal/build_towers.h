#pragma once
#include <martello/input/input_source.h>
#include <martello/tower/tower_func.h>
#include <martello/train/parallel_mode.h>

#include <functional>
#include <vector>

namespace martello {

// Once per trainer, before its towers are built. Refuses a source that cannot serve so many towers.
void setup_input(InputSource& input, const std::vector<TensorSpec>& signature, size_t num_towers);
// The callbacks of a source; they run on every process.
CallbackList callbacks_of(InputSource& input);

// The tower that `on_tower` is called in, and what the tower function gave there.
struct BuiltTower {
  const TowerContext& context;
  TensorList outputs;
  std::vector<Variable> variables;  // those that it trains
};

// Builds the function in every training tower of the mode, in order, each with tensors of its own.
void build_towers(TowerFunc& function, const ParallelMode& mode, InputSource& input,
                  const std::function<void(const BuiltTower&)>& on_tower);

// Names of devices of a mode's towers.
std::vector<std::string> devices_of(const ParallelMode& mode);

}  // namespace martello
