#pragma once
#include <martello/train/single_cost_trainer.h>

namespace martello {

// Trains config.model on config.dataflow or config.data, with default callbacks and monitors, until all epochs are done
// or a signal comes. Never throws: wrong use and errors are logged and end as `failed`, so that a main() may return it.
TrainEnd launch_train_with_config(const TrainConfig& config, SingleCostTrainer& trainer,
                                  SourceLine line = SourceLine::current());
TrainEnd launch_train_with_config(const TrainConfig& config, SingleCostTrainer&& trainer,
                                  SourceLine line = SourceLine::current());

}  // namespace martello
