#include "command.h"
#include "graph_file.h"

#include <martello/graph/collections.h>
#include <martello/graph/core_ops.h>
#include <martello/graph/node.h>
#include <martello/predict/internal/frozen_graph.h>
#include <martello/runtime/internal/plan.h>
#include <martello/runtime/internal/session_impl.h>

#include <algorithm>
#include <charconv>
#include <map>

namespace martello::tools {
namespace {

// "image=32x28x28x1"
std::pair<std::string, Shape> feed_of(const std::string& text) {
  const size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0)
    throw WrongUse(str("--feed is '", text, "'; it has the form NAME=2x3."));
  Shape shape;
  const std::string dims = text.substr(equals + 1);
  for (const std::string& word : dims.empty() ? std::vector<std::string>() : split(dims, 'x')) {
    int64_t size = -1;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), size);
    if (error != std::errc() || end != word.data() + word.size() || size < 0)
      throw WrongUse(str("--feed is '", text, "': '", word, "' is no size."));
    shape.push_back(size);
  }
  return {text.substr(0, equals), shape};
}

// What the graph says that it gives, unless fetches are named.
std::vector<Fetch> fetches_of(const Graph& graph, const Args& args) {
  std::vector<Fetch> fetches;
  for (const std::string& name : args.all("fetch")) fetches.push_back(graph.get_tensor(name, {}));
  if (!fetches.empty()) return fetches;
  for (const Tensor& t : graph.collections().get(internal::kFrozenOutputs)) fetches.push_back(t);
  if (fetches.empty()) throw WrongUse("the graph does not say what it gives: name tensors by --fetch.");
  return fetches;
}

// Shapes are enough to plan: the values of a large batch need not fit into the memory of this machine.
struct Inputs {
  std::vector<Fetch> to;
  std::vector<Shape> shapes;
};

void check_shape(const NodeOutput& out, const std::string& name, const Shape& given) {
  bool agrees = given.rank() == out.shape.rank();
  for (int i = 0; agrees && i < given.rank(); ++i) agrees = out.shape[i] == kUnknown || out.shape[i] == given[i];
  if (!agrees) throw WrongUse(str("--feed gives '", name, "' the shape ", given, ", but it is ", out.spec(), "."));
}

Inputs inputs_of(const Graph& graph, const Args& args) {
  const int64_t batch = args.number("batch", 1, 1, 1 << 30);
  std::map<std::string, Shape> given;
  for (const std::string& text : args.all("feed")) given.insert(feed_of(text));
  for (const auto& [name, shape] : given) static_cast<void>(graph.get_tensor(name, {}));
  Inputs inputs;
  for (const Operation& op : graph.operations()) {
    const bool is_named = given.contains(op.name());
    if (op.node()->def != &op_placeholder && !is_named) continue;
    const NodeOutput& out = op.node()->outputs[0];
    std::vector<int64_t> dims = out.shape.without_symbols().symbolic();
    for (size_t i = 0; i < dims.size() && !is_named; ++i) {
      if (dims[i] != kUnknown) continue;
      if (i > 0)
        throw WrongUse(str("'", op.name(), "' is ", out.spec(), ": give its sizes by --feed ", op.name(), "=..."));
      dims[i] = batch;
    }
    if (is_named) check_shape(out, op.name(), given.at(op.name()));
    inputs.to.emplace_back(Tensor(op, 0));
    inputs.shapes.push_back(is_named ? given.at(op.name()) : Shape(dims));
  }
  return inputs;
}

Json json_of(const MemoryPlan& plan) {
  Json devices = Json::array();
  for (const DeviceMemory& d : plan.devices) {
    std::vector<PlannedBuffer> buffers = d.buffers;
    std::sort(buffers.begin(), buffers.end(), [](const auto& a, const auto& b) { return a.bytes > b.bytes; });
    Json list = Json::array();
    for (const PlannedBuffer& b : buffers)
      list.push_back(
          {{"tensor", b.tensor}, {"bytes", b.bytes}, {"offset", b.offset}, {"first", b.first}, {"last", b.last}});
    devices.push_back({{"device", d.device},
                       {"arena_bytes", d.arena_bytes},
                       {"largest_live_bytes", d.largest_live_bytes},
                       {"variable_bytes", d.variable_bytes},
                       {"derived_bytes", d.derived_bytes},
                       {"constant_bytes", d.constant_bytes},
                       {"peak_node", d.peak_node},
                       {"buffers", list}});
  }
  return devices;
}

Report run(const Args& args) {
  const Graph graph = load_graph(args.operands()[0]);
  Session session(graph, {.threads = static_cast<int>(args.number("threads", 0, 0, 1024))});
  const std::vector<Fetch> fetches = fetches_of(graph, args);
  const Inputs inputs = inputs_of(graph, args);
  const auto plan = session.impl().get_plan(session.impl().resolve(fetches, inputs.to), inputs.shapes);
  const MemoryPlan& memory = plan->program->memory;
  Report report{.text = memory.str(), .json = {{"devices", json_of(memory)}}};
  if (!report.text.ends_with('\n')) report.text += '\n';
  const PlanReport& made = plan->program->report;
  report.json["nodes"] = made.nodes;
  report.json["implementations"] = made.implementations;
  if (args.has("kernels"))
    for (const std::string& line : made.implementations) report.text += line + "\n";
  return report;
}

}  // namespace

Command plan_command() {
  return {.name = "plan",
          .operands = "FILE",
          .summary = "Tell the memory that a run of a graph needs, without running it.",
          .help = "The graph is that of a frozen model, a checkpoint or a graph text, as for `graph`.\n",
          .options = {{"batch", "N", "size of first dimensions that are not known (1)"},
                      {"feed", "NAME=2x3", "shape of an input, where more than the first dimension is not known"},
                      {"fetch", "NAME", "what the run gives (the outputs of a frozen model); may come again"},
                      {"threads", "N", "compute threads (0: all cores)"},
                      {"kernels", "", "also the kernel of every node"}},
          .run = run};
}

}  // namespace martello::tools
