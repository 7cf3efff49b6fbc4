#include "command.h"
#include "tensor_file.h"

#include <cmath>
#include <limits>

namespace martello::tools {
namespace {

struct Statistics {
  double least = std::numeric_limits<double>::infinity(), most = -least, sum = 0, squares = 0;
  int64_t finite = 0, not_finite = 0;
};

Statistics statistics_of(const HostTensor& t) {
  Statistics s;
  for (int64_t i = 0; i < t.num_elements(); ++i) {
    const double v = t.at(i);
    if (!std::isfinite(v)) {
      ++s.not_finite;
      continue;
    }
    ++s.finite;
    s.least = std::min(s.least, v);
    s.most = std::max(s.most, v);
    s.sum += v;
    s.squares += v * v;
  }
  return s;
}

Json statistics_json(const HostTensor& t) {
  const Statistics s = statistics_of(t);
  Json json{{"dtype", str(t.dtype())}, {"shape", t.shape().symbolic()}, {"not_finite", s.not_finite}};
  if (s.finite == 0) return json;
  const double mean = s.sum / static_cast<double>(s.finite);
  json["min"] = s.least;
  json["max"] = s.most;
  json["mean"] = mean;
  json["std"] = std::sqrt(std::max(0.0, s.squares / static_cast<double>(s.finite) - mean * mean));
  return json;
}

std::string number_text(const Json& row, const char* key) {
  if (!row.contains(key)) return "-";
  char text[32];
  std::snprintf(text, sizeof text, "%.5g", row[key].get<double>());
  return text;
}

Json values_json(const HostTensor& t, int64_t most) {
  Json values = Json::array();
  for (int64_t i = 0; i < std::min(most, t.num_elements()); ++i) {
    const double v = t.at(i);
    values.push_back(std::isfinite(v) ? Json(v) : Json(str(v)));
  }
  return values;
}

// One tensor: statistics and its first elements.
Report show_tensors(const TensorFile& file, const Args& args) {
  const int64_t most = args.number("values", 10, 0, 1'000'000);
  Report report{.text = {}, .json = {{"file", file.path}, {"tensors", Json::object()}}};
  for (size_t i = 1; i < args.operands().size(); ++i) {
    const std::string& name = args.operands()[i];
    const HostTensor value = file.read(name);
    Json row = statistics_json(value);
    row["values"] = values_json(value, most);
    report.text += str(name, "  ", value.dtype(), value.shape(), "\n  min ", number_text(row, "min"), "  max ",
                       number_text(row, "max"), "  mean ", number_text(row, "mean"), "  std ", number_text(row, "std"));
    if (row["not_finite"] > 0) report.text += str("  not finite ", row["not_finite"].get<int64_t>());
    report.text += "\n ";
    for (const Json& v : row["values"])
      report.text += str(" ", v.is_string() ? v.get<std::string>() : str(v.get<double>()));
    report.text += value.num_elements() > most ? " ...\n" : "\n";
    report.json["tensors"][name] = std::move(row);
  }
  return report;
}

Report show_file(const TensorFile& file) {
  Report report{.text = {}, .json = {{"file", file.path}, {"format", file.format}, {"metadata", file.metadata}}};
  std::vector<std::vector<std::string>> facts = {{"format", file.format},
                                                 {"tensors", str(file.entries.size())},
                                                 {"numbers", str(file.num_elements())},
                                                 {"size", human_bytes(file.bytes())}};
  for (const auto& [key, value] : file.metadata) {
    const bool is_long = value.size() > 100 || value.find('\n') != std::string::npos;
    facts.push_back({key, is_long ? str(value.size(), " bytes of text") : value});
  }
  report.text = table(facts) + "\n";
  std::vector<std::vector<std::string>> rows = {{"tensor", "", "min", "max", "mean", "std", "not finite"}};
  report.json["tensors"] = Json::object();
  for (const TensorEntry& e : file.entries) {
    if (is_reserved(e.name)) continue;
    const Json row = statistics_json(file.read(e.name));
    rows.push_back({e.name, e.spec(), number_text(row, "min"), number_text(row, "max"), number_text(row, "mean"),
                    number_text(row, "std"), row["not_finite"] == 0 ? "" : str(row["not_finite"].get<int64_t>())});
    report.json["tensors"][e.name] = row;
  }
  report.text += table(rows, {2, 3, 4, 5, 6});
  return report;
}

Report run(const Args& args) {
  const TensorFile file = open_tensor_file(args.operands()[0]);
  return args.operands().size() > 1 ? show_tensors(file, args) : show_file(file);
}

}  // namespace

Command show_command() {
  return {.name = "show",
          .operands = "FILE [TENSOR ...]",
          .summary = "Show what a file says of itself and its tensors, or single tensors with values.",
          .help = "Statistics are of the finite numbers of a tensor.\n",
          .most_operands = 1000,
          .options = {{"values", "N", "of each TENSOR print the first N numbers (10)"}},
          .run = run};
}

}  // namespace martello::tools
