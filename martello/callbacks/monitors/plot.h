#pragma once
#include <string>
#include <vector>

namespace martello {

// One chart of a plot: all scalars in whose name the regular expression is found.
struct PlotPanel {
  std::string title = {};
  std::string names = {};
};

struct PlotOptions {
  std::string title = {};  // default: the folder of the statistics
  std::vector<PlotPanel> panels = {{"loss", "loss|cost|perplexity"}, {"error", "error|accuracy|auc"}};
  int width = 960;   // of the whole picture; twice as many pixels in a PNG
  int height = 360;  // of one panel
};

// Draws the statistics of a run (stats.jsonl), one curve per scalar, over epochs or, where an epoch has several values,
// over steps. Losses that span more than two decades are drawn in a logarithmic scale. The picture is a PNG or, when
// its name ends so, an SVG. Panels without a scalar are left out.
void plot_stats(const std::string& stats_file, const std::string& picture, const PlotOptions& options = {});

}  // namespace martello
