#include <martello/predict/frozen.h>

#include <martello/base/error.h>
#include <martello/graph/node.h>
#include <martello/ops/variable.h>
#include <martello/predict/internal/frozen_graph.h>
#include <martello/predict/offline_predictor.h>

namespace martello {
namespace {

std::string title(const std::string& path) { return str("[frozen model '", path, "'] "); }

void check_ends(const Graph& graph, const std::string& path) {
  const auto& lists = graph.collections();
  const auto outputs = lists.get(internal::kFrozenOutputs);
  MARTELLO_CHECK(!outputs.empty() && outputs.size() == lists.get(internal::kFrozenOutputNames).size() &&
                     lists.get(internal::kFrozenInputs).size() == lists.get(internal::kFrozenInputNames).size(),
                 title(path), "its graph does not say which of its tensors are inputs and outputs.");
  for (const Tensor& t : lists.get(internal::kFrozenInputs))
    MARTELLO_CHECK(!t.is_null(), title(path), "one of its inputs is null.");
  for (const Tensor& t : outputs) MARTELLO_CHECK(!t.is_null(), title(path), "one of its outputs is null.");
}

void check_values(const Graph& graph, const SafetensorsFile& file) {
  for (const Operation& op : graph.operations()) {
    if (op.node()->def != &op_variable) continue;
    const auto* entry = file.find(op.name());
    const NodeOutput& out = op.node()->outputs[0];
    MARTELLO_CHECK(entry, title(file.path()), "has no value for variable '", op.name(), "' of its graph.");
    MARTELLO_CHECK(entry->dtype == out.dtype && entry->shape == out.shape, title(file.path()), "variable '", op.name(),
                   "' is ", out.dtype, out.shape, " but its value is ", entry->dtype, entry->shape, ".");
  }
}

OnlinePredictor load(const std::string& path, const SessionOptions& options, SourceLine line) {
  return with_line(line, [&] {
    const SafetensorsFile file(path);
    const Graph graph = internal::read_frozen_graph(file);
    auto session = std::make_shared<Session>(graph, options);
    for (const Operation& op : graph.operations())
      if (op.node()->def == &op_variable) session->set(op.name(), file.read(op.name()));
    const auto& lists = graph.collections();
    return OnlinePredictor(lists.get(internal::kFrozenInputs), lists.get(internal::kFrozenOutputs), session);
  });
}

std::vector<std::string> names(const OnlinePredictor& predictor, CollectionKey<std::string> key) {
  return predictor.session()->graph().collections().get(key);
}

}  // namespace

Graph internal::read_frozen_graph(const SafetensorsFile& file) try {
  const auto text = file.metadata().find(kFrozenGraphKey);
  MARTELLO_CHECK(text != file.metadata().end(), title(file.path()), "has no graph: it was not written by ",
                 "ModelExporter. A checkpoint is loaded by SmartInit.");
  Graph graph = parse_graph(text->second);
  check_ends(graph, file.path());
  check_values(graph, file);
  graph.finalize();
  return graph;
} catch (Error& e) {
  e.add_context(str("while the graph in '", file.path(), "' was read"));
  throw;
}

ModelExporter::ModelExporter(PredictConfig config, SourceLine line)
    : predictor_(OfflinePredictor(std::move(config), line)) {}
ModelExporter::ModelExporter(OnlinePredictor predictor) : predictor_(std::move(predictor)) {}

void ModelExporter::export_compact(const std::string& path, ExportOptions options, SourceLine line) const {
  with_line(line, [&] {
    const auto session = predictor_.session();
    if (!session)
      throw FailedPrecondition("[freeze] its predictor has no session yet. Export it from before_train on.");
    const internal::FrozenGraph frozen = internal::freeze(*session, predictor_.inputs(), predictor_.outputs(), options);
    write_safetensors(path, frozen.values, {{internal::kFrozenGraphKey, frozen.graph.text()}}, {.checksums = true});
  });
}

FrozenPredictor::FrozenPredictor(const std::string& path, const SessionOptions& options, SourceLine line)
    : OnlinePredictor(load(path, options, line)) {}

std::vector<std::string> FrozenPredictor::input_names() const { return names(*this, internal::kFrozenInputNames); }
std::vector<std::string> FrozenPredictor::output_names() const { return names(*this, internal::kFrozenOutputNames); }

}  // namespace martello
