#pragma once
#include <martello/train/checkpoint.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace martello {

// Which of these checkpoints of one run may be deleted: those that no rule of `keep` and no tag of a best one wants.
std::vector<std::string> superfluous(std::vector<CheckpointInfo> checkpoints, const Retention& keep);
// The epoch whose end this checkpoint is, or has the file name of.
std::optional<int64_t> epoch_ended_by(const CheckpointInfo& checkpoint);
// Whether `keep` wants this one however many newer ones there are.
bool stays_for_good(const CheckpointInfo& checkpoint, const Retention& keep);

}  // namespace martello
