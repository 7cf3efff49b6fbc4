#pragma once
#include <martello/codec/safetensors.h>
#include <martello/train/checkpoint.h>

#include <functional>
#include <string>
#include <string_view>
#include <vector>

// All of a checkpoint, for tools; a trainer reads and writes its own.
namespace martello {

// Of the names of what is no GLOBAL variable.
inline constexpr std::string_view kCheckpointPrefix = "__martello__/";

// One thing that must be as it was when a run goes on.
struct FingerprintItem {
  std::string name;
  std::string text;  // lines
};
using Fingerprint = std::vector<FingerprintItem>;

struct Checkpoint {
  CheckpointInfo info = {};
  std::vector<NamedTensor> variables = {};        // GLOBAL
  std::vector<NamedTensor> local_variables = {};  // LOCAL, random counters among them
  std::string state = {};                         // of callbacks, monitors and the input, as State::bytes()
  Fingerprint fingerprint = {};
  std::string kernel_choices = {};
};
// Refuses a name that no file can hold: better before a training than at its first save.
void check_variable_name(std::string_view name);
// `check` is called every few megabytes; what it throws ends the writing.
void write_checkpoint(const std::string& path, const Checkpoint& checkpoint, const std::function<void()>& check = {});
// Strict: every changed bit is found. As read_checkpoint_info().
Checkpoint read_checkpoint(const std::string& path);

}  // namespace martello
