#include <martello/base/error.h>
#include <martello/callbacks/monitors/stats_file.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>

namespace martello {
namespace {

using Json = nlohmann::ordered_json;

Json as_json(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  return value;
}

std::optional<double> as_number(const Json& json) {
  if (json.is_number()) return json.get<double>();
  if (json == "nan") return std::nan("");
  if (json == "inf") return std::numeric_limits<double>::infinity();
  if (json == "-inf") return -std::numeric_limits<double>::infinity();
  return std::nullopt;
}

void read_scalars(const Json& object, std::vector<std::pair<std::string, double>>& scalars) {
  for (const auto& [name, json] : object.items()) {
    if (const auto value = as_number(json)) scalars.emplace_back(name, *value);
  }
}

}  // namespace

std::string stats_line(const StatsRow& row) {
  Json json = Json::object();
  if (row.epoch_num) json["epoch_num"] = *row.epoch_num;
  json["global_step"] = row.global_step;
  for (const auto& [name, value] : row.scalars) json[name] = as_json(value);
  for (const auto& [name, value] : row.volatile_scalars) json["volatile"][name] = as_json(value);
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);  // a name may be no UTF-8
}

StatsRow parse_stats_line(const std::string& line) {
  Json json = Json::parse(line, nullptr, false);
  MARTELLO_CHECK(json.is_object() && json.contains("global_step") && json["global_step"].is_number_integer(),
                 "[stats] ", martello::quoted(line.substr(0, 80)), " is no JSON object with a global_step.");
  StatsRow row;
  row.global_step = json["global_step"].get<int64_t>();
  if (json.contains("epoch_num") && json["epoch_num"].is_number_integer())
    row.epoch_num = json["epoch_num"].get<int64_t>();
  if (json.contains("volatile")) read_scalars(json["volatile"], row.volatile_scalars);
  for (const char* key : {"epoch_num", "global_step", "volatile"}) json.erase(key);
  read_scalars(json, row.scalars);
  return row;
}

std::vector<StatsRow> load_stats(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw NotFound(str("[stats] there is no file '", path, "'."));
  std::vector<StatsRow> rows;
  int64_t number = 0;
  for (std::string line; std::getline(file, line) && !file.eof();) {
    ++number;
    try {
      rows.push_back(parse_stats_line(line));
    } catch (Error& e) {
      e.add_context(str("in line ", number, " of '", path, "'"));
      throw;
    }
  }
  return rows;
}

std::optional<int64_t> find_existing_epoch(const std::string& dir) {
  const std::string path = str(dir, "/", kStatsFile);
  if (!std::filesystem::exists(path)) return std::nullopt;
  const std::vector<StatsRow> rows = load_stats(path);
  return rows.empty() ? std::nullopt : rows.back().epoch_num;
}

}  // namespace martello
