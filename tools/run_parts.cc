#include "run_parts.h"

#include "tensor_file.h"

#include <martello/base/internal/lines_only_in.h>
#include <martello/train/checkpoint_contents.h>

#include <algorithm>
#include <map>
#include <set>

namespace martello::tools {
namespace {

using internal::lines_only_in;

std::map<int64_t, std::string> by_step(const std::string& dir) {
  std::map<int64_t, std::string> files;
  for (const std::string& f : checkpoints_of(dir)) files[step_of(f)] = f;
  return files;
}

// Names of variables that differ.
std::vector<std::string> differing(const TensorFile& a, const TensorFile& b) {
  std::vector<std::string> names;
  for (const TensorEntry& e : a.entries) {
    if (is_reserved(e.name)) continue;
    const TensorEntry* other = b.find(e.name);
    if (!other || other->spec() != e.spec() || !a.read(e.name).same_bits(b.read(e.name))) names.push_back(e.name);
  }
  for (const TensorEntry& e : b.entries)
    if (!is_reserved(e.name) && !a.find(e.name)) names.push_back(e.name);
  return names;
}

// What the newest checkpoint says the run depends on, by name; empty when there is none, or it is of no run.
std::map<std::string, std::string> parts_of(const std::string& dir) {
  std::map<std::string, std::string> parts;
  const auto files = by_step(dir);
  if (files.empty()) return parts;
  const std::string& newest = files.rbegin()->second;
  if (!is_checkpoint(open_tensor_file(newest))) return parts;
  for (FingerprintItem& item : read_checkpoint(newest).fingerprint) parts[item.name] = std::move(item.text);
  return parts;
}

void append_lines(std::string& text, const char* sign, const std::vector<std::string>& lines) {
  constexpr size_t kMost = 8, kWidth = 160;
  for (size_t i = 0; i < std::min(lines.size(), kMost); ++i)
    text += str("  ", sign, " ", lines[i].substr(0, kWidth), lines[i].size() > kWidth ? " ..." : "", "\n");
  if (lines.size() > kMost) text += str("  ", sign, " and ", lines.size() - kMost, " more lines (--json has all)\n");
}

}  // namespace

Report compare_parts(const std::string& a, const std::string& b) {
  const auto in_a = parts_of(a), in_b = parts_of(b);
  Report report{.text = {}, .json = Json::object()};
  if (in_a.empty() || in_b.empty()) {
    report.json = nullptr;
    report.text = str("config, graph and data: ", in_a.empty() ? "A" : "B", " has no checkpoint that tells them\n");
    return report;
  }
  std::set<std::string> names;
  for (const auto* parts : {&in_a, &in_b})
    for (const auto& [name, text] : *parts) names.insert(name);
  for (const std::string& name : names) {
    const auto text_of = [&](const auto& parts) { return parts.contains(name) ? parts.at(name) : std::string(); };
    const std::string x = text_of(in_a), y = text_of(in_b);
    if (x == y) continue;
    const auto only_a = lines_only_in(x, y), only_b = lines_only_in(y, x);
    report.json[name] = {{"only_in_a", only_a}, {"only_in_b", only_b}};
    report.text += str(name, ": differs", only_a.empty() && only_b.empty() ? ", in the order of lines\n" : "\n");
    append_lines(report.text, "A", only_a);
    append_lines(report.text, "B", only_b);
  }
  report.code = report.json.empty() ? kFine : kDifferent;
  if (report.json.empty()) report.text = str("config, graph and data: the same in ", names.size(), " parts\n");
  return report;
}

Report compare_weights(const std::string& a, const std::string& b) {
  const auto in_a = by_step(a), in_b = by_step(b);
  Report report{.text = {}, .json = {{"steps", Json::array()}, {"first_difference", nullptr}}};
  for (const auto& [step, path] : in_a) {
    const auto other = in_b.find(step);
    if (other == in_b.end()) continue;
    report.json["steps"].push_back(step);
    const std::vector<std::string> names = differing(open_tensor_file(path), open_tensor_file(other->second));
    if (names.empty()) continue;
    report.code = kDifferent;
    report.json["first_difference"] = {{"step", step}, {"variables", names}};
    report.text = str("weights: ", names.size(), " variables differ at step ", step, ", '", names[0], "' among them\n");
    return report;
  }
  const size_t common = report.json["steps"].size();
  report.text = common == 0 ? "weights: no checkpoints of the same step to compare\n"
                            : str("weights: the same bits in ", common, " checkpoints\n");
  return report;
}

}  // namespace martello::tools
