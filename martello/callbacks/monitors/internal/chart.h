#pragma once
#include <string>
#include <vector>

// Line charts, drawn by cairo.
namespace martello::internal {

struct Curve {
  std::string name;
  std::vector<double> x, y;  // a value that is not finite leaves a gap
};

struct Chart {
  std::string title;
  std::string x_title;
  std::vector<Curve> curves;
};

// The way from values to positions along one axis.
class Scale {
 public:
  // Of all finite values; from the least to the largest tick. `is_log` asks, and is granted for positive values.
  Scale(const std::vector<double>& values, bool is_log, int most_ticks);
  double at(double value) const;  // 0 ... 1
  bool is_log() const { return is_log_; }
  const std::vector<double>& ticks() const { return ticks_; }
  std::string label(double tick) const;

 private:
  void make_linear_ticks(int most);
  void make_log_ticks();

  bool is_log_;
  double low_ = 0, high_ = 1, step_ = 1;
  std::vector<double> ticks_;
};

struct PictureSize {
  int width = 960;
  int height = 360;  // of one chart
};
// Charts below each other under a heading. Throws FileError when the file cannot be written.
void draw_charts(const std::string& path, const std::string& heading, const std::vector<Chart>& charts,
                 PictureSize size);

}  // namespace martello::internal
