#include "command.h"
#include "tensor_file.h"

#include <martello/base/name_pattern.h>

#include <cmath>
#include <set>

namespace martello::tools {
namespace {

struct Comparison {
  const TensorFile& a;
  const TensorFile& b;
  double tolerance;
};

// Null when the tensor is the same in both.
Json difference_of(const Comparison& c, const std::string& name) {
  const TensorEntry *in_a = c.a.find(name), *in_b = c.b.find(name);
  if (!in_a || !in_b) return {{"kind", in_a ? "only in A" : "only in B"}, {"spec", (in_a ? in_a : in_b)->spec()}};
  if (in_a->spec() != in_b->spec()) return {{"kind", "type"}, {"a", in_a->spec()}, {"b", in_b->spec()}};
  const HostTensor x = c.a.read(name), y = c.b.read(name);
  if (x.same_bits(y)) return nullptr;
  double largest = 0;
  int64_t count = 0, first = -1;
  for (int64_t i = 0; i < x.num_elements(); ++i) {
    const double u = x.at(i), v = y.at(i), distance = std::abs(u - v);
    const bool is_same = u == v || (std::isnan(u) && std::isnan(v)) || distance <= c.tolerance;
    if (is_same) continue;
    ++count;
    if (first < 0) first = i;
    if (!(distance <= largest)) largest = distance;  // NaN too
  }
  if (count == 0 && c.tolerance > 0) return nullptr;
  Json json{{"kind", "values"}, {"count", count}, {"of", x.num_elements()}};
  if (count == 0) return json;  // -0 and 0, or NaNs of other bits
  json["largest"] = std::isfinite(largest) ? Json(largest) : Json(str(largest));
  json["first"] = {{"element", first}, {"a", str(x.at(first))}, {"b", str(y.at(first))}};
  return json;
}

std::string text_of(const Json& d) {
  const std::string kind = d["kind"];
  if (kind == "type") return str(d["a"].get<std::string>(), " in A, ", d["b"].get<std::string>(), " in B");
  if (kind != "values") return kind + ", " + d["spec"].get<std::string>();
  if (!d.contains("largest")) return "other bits, same numbers";
  const Json& first = d["first"];
  const std::string largest =
      d["largest"].is_string() ? d["largest"].get<std::string>() : str(d["largest"].get<double>());
  return str(d["count"].get<int64_t>(), " of ", d["of"].get<int64_t>(), " numbers, by ", largest, " at most; element ",
             first["element"].get<int64_t>(), " is ", first["a"].get<std::string>(), " in A, ",
             first["b"].get<std::string>(), " in B");
}

Report run(const Args& args) {
  const TensorFile a = open_tensor_file(args.operands()[0]), b = open_tensor_file(args.operands()[1]);
  const double tolerance = args.real("tolerance", 0);
  if (!(tolerance >= 0)) throw WrongUse(str("--tolerance is ", tolerance, "; it is 0 or more."));
  std::optional<NamePattern> only;
  if (const auto pattern = args.find("only")) only.emplace(*pattern, "diff --only");
  std::set<std::string> names;
  for (const TensorFile* f : {&a, &b})
    for (const TensorEntry& e : f->entries)
      if ((args.has("all") || !is_reserved(e.name)) && (!only || only->is_found_in(e.name))) names.insert(e.name);
  Report report{.text = {}, .json = {{"a", a.path}, {"b", b.path}, {"differences", Json::object()}}};
  std::vector<std::vector<std::string>> rows;
  for (const std::string& name : names) {
    const Json d = difference_of({a, b, tolerance}, name);
    if (d.is_null()) continue;
    rows.push_back({name, text_of(d)});
    report.json["differences"][name] = d;
  }
  report.json["compared"] = names.size();
  report.text = table(rows) + str(rows.size(), " of ", names.size(), " tensors differ\n");
  report.code = rows.empty() ? kFine : kDifferent;
  return report;
}

}  // namespace

Command diff_command() {
  return {.name = "diff",
          .operands = "A B",
          .summary = "Compare the tensors of two files, bit by bit or within a tolerance.",
          .help = "The files may be of different formats. The exit code is 1 when something differs.\n",
          .least_operands = 2,
          .most_operands = 2,
          .options = {{"tolerance", "X", "numbers may differ by X (0: bits must be equal)"},
                      {"only", "REGEX", "compare only tensors in whose name it is found"},
                      {"all", "", "also tensors that hold the state of a run instead of a variable"}},
          .run = run};
}

}  // namespace martello::tools
