#pragma once
#include <martello/train/checkpoint.h>

#include <string>
#include <vector>

namespace martello {

// Which of these checkpoints of one run may be deleted: those that no rule of `keep` and no tag of a best one wants.
std::vector<std::string> superfluous(std::vector<CheckpointInfo> checkpoints, const Retention& keep);

}  // namespace martello
