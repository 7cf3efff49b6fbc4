#pragma once
#include <martello/loop/callback.h>
#include <martello/train/train_config.h>

#include <string>
#include <vector>

namespace martello {

// Logs what the run depends on, and gives a callback that tells the batch at the first hooked run, where the graph does
// not say it.
Ref<Callback> report_start(const TrainOptions& options, const std::vector<std::string>& devices,
                           const TowerHandles& towers);

}  // namespace martello
