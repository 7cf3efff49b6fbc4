#pragma once
#include <martello/train/trainer.h>

#include <cstdint>
#include <string>
#include <vector>

namespace chaos {

// Everything that a run is: variables with optimizer slots and random counters, samples in their order, rows of all log
// files without what depends on the clock.
void write_digest(const std::string& dir, martello::Trainer& trainer, const std::vector<int64_t>& ids);

}  // namespace chaos
