#include <martello/base/error.h>
#include <martello/base/name_pattern.h>
#include <martello/callbacks/monitors/internal/chart.h>
#include <martello/callbacks/monitors/plot.h>
#include <martello/callbacks/monitors/stats_file.h>

#include <algorithm>
#include <filesystem>
#include <map>

namespace martello {
namespace {

using internal::Chart;

struct Series {
  std::vector<double> epochs, steps, values;
};
using AllSeries = std::map<std::string, Series>;

AllSeries series_of(const std::vector<StatsRow>& rows) {
  AllSeries all;
  for (const StatsRow& row : rows) {
    for (const auto& [name, value] : row.scalars) {
      Series& s = all[name];
      s.epochs.push_back(static_cast<double>(row.epoch_num.value_or(0)));
      s.steps.push_back(static_cast<double>(row.global_step));
      s.values.push_back(value);
    }
  }
  return all;
}

bool has_one_value_per_epoch(const Series& s) {
  return std::adjacent_find(s.epochs.begin(), s.epochs.end(), std::greater_equal<>()) == s.epochs.end();
}

Chart make_chart(const PlotPanel& panel, const AllSeries& all) {
  const NamePattern pattern(panel.names, "plot");
  Chart chart = {panel.title, "epoch", {}};
  std::vector<const Series*> chosen;
  for (const auto& [name, series] : all) {
    if (!pattern.is_found_in(name)) continue;
    chart.curves.push_back({name, {}, series.values});
    chosen.push_back(&series);
    if (!has_one_value_per_epoch(series)) chart.x_title = "step";
  }
  for (size_t i = 0; i < chosen.size(); ++i)
    chart.curves[i].x = chart.x_title == "epoch" ? chosen[i]->epochs : chosen[i]->steps;
  return chart;
}

std::string names_of(const AllSeries& all) {
  std::vector<std::string> names;
  for (const auto& [name, series] : all) names.push_back(name);
  return join(names);
}

std::string folder_of(const std::string& path) {
  return std::filesystem::absolute(path).parent_path().filename().string();
}

}  // namespace

void plot_stats(const std::string& stats_file, const std::string& picture, const PlotOptions& options) {
  constexpr int kLeast = 200, kMost = 10000;
  MARTELLO_CHECK(
      options.width >= kLeast && options.width <= kMost && options.height >= kLeast && options.height <= kMost,
      "[plot] a picture of ", options.width, " x ", options.height, " is not between ", kLeast, " and ", kMost,
      " a side.");
  const AllSeries all = series_of(load_stats(stats_file));
  MARTELLO_CHECK(!all.empty(), "[plot] '", stats_file, "' has no scalars.");
  std::vector<Chart> charts;
  for (const PlotPanel& panel : options.panels) {
    Chart chart = make_chart(panel, all);
    if (!chart.curves.empty()) charts.push_back(std::move(chart));
  }
  MARTELLO_CHECK(!charts.empty(), "[plot] no scalar of '", stats_file, "' belongs to a panel; there are ",
                 names_of(all), ". Name them in PlotOptions::panels.");
  internal::draw_charts(picture, options.title.empty() ? folder_of(stats_file) : options.title, charts,
                        {options.width, options.height});
}

}  // namespace martello
