#include "command.h"
#include "run_parts.h"
#include "tensor_file.h"

#include <martello/callbacks/monitors/stats_file.h>

#include <cmath>
#include <filesystem>
#include <map>
#include <set>

namespace martello::tools {
namespace {

using Rows = std::map<int64_t, std::map<std::string, double>>;  // by global_step

Rows rows_of(const std::string& dir) {
  Rows rows;
  const std::string path = str(dir, "/", kStatsFile);
  if (!std::filesystem::exists(path)) return rows;
  for (const StatsRow& row : load_stats(path))
    for (const auto& [name, value] : row.scalars) rows[row.global_step][name] = value;
  return rows;
}

bool is_same(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

// What differs at one step; null when nothing does.
Json differing_scalars(const std::map<std::string, double>& a, const std::map<std::string, double>& b) {
  Json scalars = Json::object();
  std::set<std::string> names;
  for (const auto* row : {&a, &b})
    for (const auto& [name, value] : *row) names.insert(name);
  for (const std::string& name : names) {
    const auto in_a = a.find(name), in_b = b.find(name);
    if (in_a != a.end() && in_b != b.end() && is_same(in_a->second, in_b->second)) continue;
    scalars[name] = {{"a", in_a == a.end() ? "missing" : str(in_a->second)},
                     {"b", in_b == b.end() ? "missing" : str(in_b->second)}};
  }
  return scalars.empty() ? Json() : scalars;
}

// The first step whose row differs. A run that ended earlier does not differ by that alone.
Json first_difference(const Rows& a, const Rows& b) {
  const int64_t end = std::min(a.empty() ? -1 : a.rbegin()->first, b.empty() ? -1 : b.rbegin()->first);
  std::set<int64_t> steps;
  for (const Rows* rows : {&a, &b})
    for (const auto& [step, row] : *rows) steps.insert(step);
  for (const int64_t step : steps) {
    if (step > end) break;
    const auto in_a = a.find(step), in_b = b.find(step);
    const std::map<std::string, double> none;
    const Json scalars =
        differing_scalars(in_a == a.end() ? none : in_a->second, in_b == b.end() ? none : in_b->second);
    if (!scalars.is_null()) return {{"step", step}, {"scalars", scalars}};
  }
  return nullptr;
}

Report compare_stats(const Rows& a, const Rows& b) {
  Report report{.text = {}, .json = {{"rows_a", a.size()}, {"rows_b", b.size()}}};
  const Json first = first_difference(a, b);
  report.json["first_difference"] = first;
  if (first.is_null()) {
    report.text = str("statistics: the same as far as both go (", a.size(), " and ", b.size(), " rows)\n");
    return report;
  }
  report.code = kDifferent;
  report.text = str("statistics: differ first at step ", first["step"].get<int64_t>(), "\n");
  for (const auto& [name, both] : first["scalars"].items())
    report.text +=
        str("  ", name, ": ", both["a"].get<std::string>(), " in A, ", both["b"].get<std::string>(), " in B\n");
  return report;
}

Rows rows_of_run(const std::string& dir) {
  if (!std::filesystem::is_directory(dir)) throw NotFound(str("'", dir, "' is no directory of a run."));
  Rows rows = rows_of(dir);
  if (rows.empty() && checkpoints_of(dir).empty())
    throw NotFound(str("'", dir, "' holds no run: no checkpoint (model-<step>.safetensors) and no statistics (",
                       kStatsFile, "). Name the directory that a run has written."));
  return rows;
}

Report run(const Args& args) {
  const std::string &a = args.operands()[0], &b = args.operands()[1];
  const Rows rows_a = rows_of_run(a), rows_b = rows_of_run(b);
  Report report{.text = {}, .json = {{"a", a}, {"b", b}}};
  const auto add = [&](const char* key, const Report& part) {
    report.text += part.text;
    report.json[key] = part.json;
    report.code = std::max(report.code, part.code);
  };
  add("parts", compare_parts(a, b));
  add("statistics", compare_stats(rows_a, rows_b));
  add("weights", compare_weights(a, b));
  return report;
}

}  // namespace

Command runs_diff_command() {
  return {.name = "runs diff",
          .operands = "A B",
          .summary = "Compare two runs: config, graph and data, the first step whose statistics differ, and weights.",
          .help =
              "A and B are directories of runs. Config, graph and data are those that their newest checkpoints\n"
              "hold. Statistics (stats.jsonl) are compared as far as both go; what depends on the machine, such as\n"
              "throughput, is left out. Weights are compared at steps of which both have a checkpoint. The exit\n"
              "code is 1 when something differs.\n",
          .least_operands = 2,
          .most_operands = 2,
          .options = {},
          .run = run};
}

}  // namespace martello::tools
