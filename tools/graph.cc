#include "command.h"
#include "graph_file.h"
#include "graph_svg.h"

#include <martello/graph/node.h>

#include <map>

namespace martello::tools {
namespace {

Json summary_of(const Graph& graph) {
  std::map<std::string, int64_t> ops;
  for (const Operation& op : graph.operations()) ++ops[op.type()];
  return {{"nodes", graph.size()}, {"ops", ops}};
}

std::string rendered(const Graph& graph, const std::string& format) {
  if (format == "text") return graph.text();
  if (format == "dot") return graph.dot();
  if (format == "svg") return graph_svg(graph);
  throw WrongUse(str("--format is '", format, "'; it is text, dot or svg."));
}

Report run(const Args& args) {
  const std::string out = args.get("out", "");
  const std::string by_name = out.ends_with(".svg") ? "svg" : out.ends_with(".dot") ? "dot" : "text";
  const std::string format = args.get("format", by_name);
  const Graph graph = load_graph(args.operands()[0]);
  const std::string picture = rendered(graph, format);
  Report report{.text = picture, .json = summary_of(graph)};
  report.json["format"] = format;
  if (out.empty()) {
    report.json["graph"] = picture;
  } else {
    write_file(out, picture);
    report.text = str(out, ": ", graph.size(), " nodes\n");
    report.json["out"] = out;
  }
  return report;
}

}  // namespace

Command graph_command() {
  return {.name = "graph",
          .operands = "FILE",
          .summary = "Print the graph of a frozen model, a checkpoint or a graph text: as text, for Graphviz, as SVG.",
          .help = "Ops of one's own are unknown to this command: it refuses their graphs.\n",
          .options = {{"format", "KIND", "text, dot or svg (by the ending of --out, else text)"},
                      {"out", "FILE", "write it there instead of printing it"}},
          .run = run};
}

}  // namespace martello::tools
