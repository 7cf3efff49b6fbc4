#include "command.h"
#include "tensor_file.h"

#include <martello/codec/safetensors.h>
#include <martello/graph/graph.h>
#include <martello/predict/internal/frozen_graph.h>
#include <martello/train/checkpoint.h>

namespace martello::tools {
namespace {

// Reads everything; throws what is wrong. Gives what was looked at.
std::string check(const std::string& path) {
  const TensorFile file = open_tensor_file(path);
  for (const TensorEntry& e : file.entries) static_cast<void>(file.read(e.name));
  std::string what = str(file.entries.size(), " tensors");
  if (file.format == "npz") return what + " with checksums";
  if (is_checkpoint(file)) {
    verify_checkpoint(path);
    return what + " of a checkpoint, with checksums";
  }
  if (file.metadata.contains(internal::kFrozenGraphKey)) {
    internal::read_frozen_graph(SafetensorsFile(path));
    what += " and the graph of a frozen model";
  }
  return what;
}

Report run(const Args& args) {
  Report report{.text = {}, .json = {{"files", Json::array()}}};
  for (const std::string& operand : args.operands()) {
    const std::vector<std::string> files = checkpoints_of(operand);
    if (files.empty()) throw NotFound(str("'", operand, "' has no checkpoint (model-<step>.safetensors)."));
    for (const std::string& path : files) {
      try {
        const std::string what = check(path);
        report.text += str(path, ": sound, ", what, "\n");
        report.json["files"].push_back({{"file", path}, {"sound", true}, {"what", what}});
      } catch (const Error& e) {
        report.text += str(path, ": DAMAGED: ", e.what(), "\n");
        report.json["files"].push_back({{"file", path}, {"sound", false}, {"error", e.what()}});
        report.code = kDifferent;
      }
    }
  }
  return report;
}

}  // namespace

Command verify_command() {
  return {
      .name = "verify",
      .operands = "DIR|FILE ...",
      .summary = "Read files whole and compare what they hold with their headers and checksums.",
      .help = "Of a directory all checkpoints (model-<step>.safetensors). The exit code is 1 when one is damaged.\n",
      .most_operands = 1000,
      .options = {},
      .run = run};
}

}  // namespace martello::tools
