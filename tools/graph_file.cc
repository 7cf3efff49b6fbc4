#include "graph_file.h"

#include "command.h"
#include "tensor_file.h"

#include <martello/predict/internal/frozen_graph.h>
#include <martello/train/checkpoint_contents.h>

namespace martello::tools {
namespace {

constexpr std::string_view kTextStart = "martello graph ";

Graph parsed(const std::string& path, const std::string& text) try { return parse_graph(text); } catch (Error& e) {
  e.add_context(str("in the graph of '", path, "'"));
  throw;
}

}  // namespace

Graph load_graph(const std::string& path) {
  if (path.ends_with(".txt") || path.ends_with(".graph")) {
    const std::string text = read_file(path);
    MARTELLO_CHECK(!text.empty(), "'", path, "' is empty, and no text of a graph.");
    return parsed(path, text);
  }
  const TensorFile file = open_tensor_file(path);
  if (is_checkpoint(file))
    for (const FingerprintItem& item : read_checkpoint(path).fingerprint)
      if (item.name == "graph") return parsed(path, item.text);
  const auto found = file.metadata.find(internal::kFrozenGraphKey);
  if (found == file.metadata.end())
    throw InvalidArgument(str(
        "'", path, "' has no graph. Give a frozen model (ModelExporter), a checkpoint of a run, or a text that begins ",
        "with '", kTextStart, "1' and whose name ends with .txt or .graph."));
  return parsed(path, found->second);
}

}  // namespace martello::tools
