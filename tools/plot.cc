#include "command.h"

#include <martello/callbacks/monitors/plot.h>
#include <martello/callbacks/monitors/stats_file.h>

#include <filesystem>

namespace martello::tools {
namespace {

PlotPanel panel_of(const std::string& text) {
  const size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0 || equals + 1 == text.size())
    throw WrongUse(str("--panel is '", text, "'; it has the form TITLE=REGEX."));
  return {text.substr(0, equals), text.substr(equals + 1)};
}

Report run(const Args& args) {
  const std::string& operand = args.operands()[0];
  const bool is_dir = std::filesystem::is_directory(operand);
  const std::string stats = is_dir ? str(operand, "/", kStatsFile) : operand;
  const std::string beside = (std::filesystem::path(stats).parent_path() / "stats.png").string();
  const std::string picture = args.get("out", beside);
  if (!picture.ends_with(".png") && !picture.ends_with(".svg"))
    throw WrongUse(str("--out is '", picture, "'; a picture ends with .png or .svg."));
  PlotOptions options;
  options.title = args.get("title", "");
  options.width = static_cast<int>(args.number("width", options.width, 200, 10000));
  options.height = static_cast<int>(args.number("height", options.height, 200, 10000));
  const std::vector<std::string> panels = args.all("panel");
  if (!panels.empty()) options.panels.clear();
  for (const std::string& p : panels) options.panels.push_back(panel_of(p));
  plot_stats(stats, picture, options);
  return {.text = picture + "\n", .json = {{"stats", stats}, {"picture", picture}}};
}

}  // namespace

Command plot_command() {
  return {.name = "plot",
          .operands = "DIR|STATS",
          .summary = "Draw the statistics of a run (stats.jsonl) as PNG or SVG.",
          .help = "One curve per scalar; without --panel a panel of losses and one of errors and accuracies.\n",
          .options = {{"out", "PICTURE", "a file that ends with .png or .svg (stats.png beside the statistics)"},
                      {"panel", "TITLE=REGEX", "a panel of the scalars in whose name it is found; may come again"},
                      {"title", "TEXT", "heading (the name of the directory)"},
                      {"width", "N", "of the picture in points, 200 to 10000 (960)"},
                      {"height", "N", "of one panel (360)"}},
          .run = run};
}

}  // namespace martello::tools
