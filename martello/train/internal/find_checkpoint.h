#pragma once
#include <martello/train/checkpoint_contents.h>

#include <optional>
#include <string>
#include <vector>

namespace martello {

// The checkpoint that `from` of ResumeOptions means: none for a run that starts from the beginning. `dirs` are those of
// the savers; without any, the logger's. One that cannot be read is never taken for one that is not there.
std::optional<Checkpoint> find_checkpoint(const std::string& from, std::vector<std::string> dirs);

}  // namespace martello
