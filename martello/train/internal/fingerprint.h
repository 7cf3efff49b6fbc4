#pragma once
#include <martello/loop/callback.h>
#include <martello/train/checkpoint_contents.h>

#include <string>
#include <vector>

namespace martello {

// What the bits of a run depend on, besides its inputs.
struct FingerprintParts {
  Graph graph;
  std::string trainer = {};
  std::vector<std::string> devices = {};
  int64_t steps_per_epoch = 0;
  SessionOptions session = {};
  CallbackList callbacks = {};
};
Fingerprint fingerprint_of(const FingerprintParts& parts);

// Refuses items that differ unless they are accepted by name; says aloud what may change the last bits only. `who`
// begins the messages.
void compare_fingerprints(const Fingerprint& saved, const Fingerprint& now, const std::vector<std::string>& accepted,
                          std::string_view who);

}  // namespace martello
