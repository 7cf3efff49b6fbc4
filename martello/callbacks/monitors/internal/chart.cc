#include <martello/base/append_file.h>
#include <martello/callbacks/monitors/internal/chart.h>

#include <cairo-svg.h>
#include <cairo.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>

namespace martello::internal {
namespace {

constexpr double kPixelsPerPoint = 2;  // sharp on screens of today
constexpr double kHeading = 44, kLeft = 70, kRight = 24, kTop = 34, kBottom = 46;

struct Color {
  double r, g, b, a = 1;
};
// Told apart by people who do not see all colors (after Okabe and Ito).
constexpr Color kCurveColors[] = {{0.00, 0.45, 0.70}, {0.84, 0.37, 0.00}, {0.00, 0.62, 0.45}, {0.80, 0.47, 0.65},
                                  {0.34, 0.71, 0.91}, {0.90, 0.62, 0.00}, {0.35, 0.35, 0.35}, {0.60, 0.31, 0.64}};
constexpr Color kInk = {0.15, 0.15, 0.18}, kSoftInk = {0.40, 0.40, 0.44}, kGrid = {0.90, 0.90, 0.92},
                kAxis = {0.55, 0.55, 0.60}, kPaper = {1, 1, 1}, kVeil = {1, 1, 1, 0.85};

struct Box {
  double x, y, width, height;
};

class Pen {
 public:
  explicit Pen(cairo_t* cairo) : c_(cairo) {}
  cairo_t* raw() const { return c_; }
  void color(Color k) { cairo_set_source_rgba(c_, k.r, k.g, k.b, k.a); }
  void line(double x0, double y0, double x1, double y1, double width, Color k) {
    color(k);
    cairo_set_line_width(c_, width);
    cairo_move_to(c_, x0, y0);
    cairo_line_to(c_, x1, y1);
    cairo_stroke(c_);
  }
  void font(double size, bool is_bold = false) {
    cairo_select_font_face(c_, "sans-serif", CAIRO_FONT_SLANT_NORMAL,
                           is_bold ? CAIRO_FONT_WEIGHT_BOLD : CAIRO_FONT_WEIGHT_NORMAL);
    cairo_set_font_size(c_, size);
  }
  double width(const std::string& text) {
    cairo_text_extents_t extents;
    cairo_text_extents(c_, text.c_str(), &extents);
    return extents.x_advance;
  }
  // `align` is the part of the text that lies left of x.
  void text(double x, double y, const std::string& text, double align, Color k) {
    color(k);
    cairo_move_to(c_, x - align * width(text), y);
    cairo_show_text(c_, text.c_str());
  }

 private:
  cairo_t* c_;
};

std::vector<double> all_of(const Chart& chart, std::vector<double> Curve::*values) {
  std::vector<double> all;
  for (const Curve& curve : chart.curves) all.insert(all.end(), (curve.*values).begin(), (curve.*values).end());
  return all;
}

// More than two decades of positive values.
bool wants_log(const std::vector<double>& y) {
  double low = 0, high = 0;
  for (double v : y) {
    if (!std::isfinite(v)) continue;
    if (v <= 0) return false;
    low = low == 0 ? v : std::min(low, v);
    high = std::max(high, v);
  }
  return low > 0 && high / low > 100;
}

void draw_axes(Pen& pen, const Chart& chart, const Box& box, const Scale& sx, const Scale& sy) {
  pen.font(11);
  for (double tick : sy.ticks()) {
    const double y = box.y + box.height * (1 - sy.at(tick));
    pen.line(box.x, y, box.x + box.width, y, 1, kGrid);
    pen.text(box.x - 8, y + 4, sy.label(tick), 1, kSoftInk);
  }
  for (double tick : sx.ticks()) {
    const double x = box.x + box.width * sx.at(tick), bottom = box.y + box.height;
    pen.line(x, box.y, x, bottom, 1, kGrid);
    pen.line(x, bottom, x, bottom + 4, 1, kAxis);
    pen.text(x, bottom + 17, sx.label(tick), 0.5, kSoftInk);
  }
  pen.line(box.x, box.y + box.height, box.x + box.width, box.y + box.height, 1.2, kAxis);
  pen.line(box.x, box.y, box.x, box.y + box.height, 1.2, kAxis);
  pen.text(box.x + box.width, box.y + box.height + 34, chart.x_title, 1, kSoftInk);
  pen.font(13, true);
  pen.text(box.x, box.y - 12, chart.title + (sy.is_log() ? " (log scale)" : ""), 0, kInk);
}

// Points as they are on the paper; where many lie in one column of pixels, its lowest and highest.
struct Point {
  double x, y;
  bool is_gap = false;
};
std::vector<Point> points_of(const Curve& curve, const Box& box, const Scale& sx, const Scale& sy) {
  std::vector<Point> points;
  for (size_t i = 0; i < curve.x.size(); ++i) {
    const double x = box.x + box.width * sx.at(curve.x[i]), y = box.y + box.height * (1 - sy.at(curve.y[i]));
    const Point p = {x, y, !std::isfinite(curve.y[i])};
    const size_t n = points.size();
    const bool is_crowded = n >= 2 && std::floor(points[n - 2].x * 2) == std::floor(x * 2) && !p.is_gap &&
                            !points[n - 1].is_gap && !points[n - 2].is_gap;
    if (!is_crowded) {
      points.push_back(p);
    } else if (p.y < std::min(points[n - 1].y, points[n - 2].y) || p.y > std::max(points[n - 1].y, points[n - 2].y)) {
      if ((points[n - 1].y - points[n - 2].y) * (p.y - points[n - 1].y) < 0) points[n - 2] = points[n - 1];
      points[n - 1] = p;
    }
  }
  return points;
}

void draw_curve(Pen& pen, const std::vector<Point>& points, Color color) {
  constexpr size_t kMostDots = 40;
  cairo_t* c = pen.raw();
  pen.color(color);
  cairo_set_line_width(c, points.size() > 400 ? 1.2 : 2);
  bool is_up = true;
  for (const Point& p : points) {
    if (!p.is_gap) is_up ? cairo_move_to(c, p.x, p.y) : cairo_line_to(c, p.x, p.y);
    is_up = p.is_gap;
  }
  cairo_stroke(c);
  for (const Point& p : points) {
    if (p.is_gap || points.size() > kMostDots) continue;
    cairo_arc(c, p.x, p.y, 3, 0, 2 * M_PI);
    cairo_fill(c);
  }
}

std::string last_value(const Curve& curve) {
  char text[32];
  snprintf(text, sizeof text, "%.4g", curve.y.back());
  return text;
}

// Where the curves seldom are: losses and errors fall, so the upper right corner is free.
void draw_legend(Pen& pen, const Chart& chart, const Box& box) {
  constexpr double kRow = 18, kSwatch = 22, kGap = 14;
  pen.font(11.5);
  double names = 0, values = 0;
  for (const Curve& curve : chart.curves) {
    names = std::max(names, pen.width(curve.name));
    values = std::max(values, pen.width(last_value(curve)));
  }
  const double width = kSwatch + names + kGap + values + 22, height = kRow * double(chart.curves.size()) + 8;
  const double x = box.x + box.width - width - 6, y = box.y + 6;
  pen.color(kVeil);
  cairo_rectangle(pen.raw(), x, y, width, height);
  cairo_fill(pen.raw());
  for (size_t i = 0; i < chart.curves.size(); ++i) {
    const double middle = y + 4 + kRow * (double(i) + 0.5);
    pen.line(x + 8, middle, x + 8 + kSwatch - 6, middle, 3, kCurveColors[i % std::size(kCurveColors)]);
    pen.text(x + 8 + kSwatch, middle + 4, chart.curves[i].name, 0, kInk);
    pen.text(x + width - 8, middle + 4, last_value(chart.curves[i]), 1, kSoftInk);
  }
}

void draw_chart(Pen& pen, const Chart& chart, const Box& box) {
  const std::vector<double> ys = all_of(chart, &Curve::y);
  const Scale sx(all_of(chart, &Curve::x), false, static_cast<int>(box.width / 70));
  const Scale sy(ys, wants_log(ys), static_cast<int>(box.height / 40));
  draw_axes(pen, chart, box, sx, sy);
  for (size_t i = 0; i < chart.curves.size(); ++i)
    draw_curve(pen, points_of(chart.curves[i], box, sx, sy), kCurveColors[i % std::size(kCurveColors)]);
  draw_legend(pen, chart, box);
}

void draw_all(cairo_t* cairo, const std::string& heading, const std::vector<Chart>& charts, PictureSize size) {
  Pen pen(cairo);
  pen.color(kPaper);
  cairo_paint(cairo);
  cairo_set_line_join(cairo, CAIRO_LINE_JOIN_ROUND);
  cairo_set_line_cap(cairo, CAIRO_LINE_CAP_ROUND);
  pen.font(16, true);
  pen.text(size.width / 2.0, 28, heading, 0.5, kInk);
  for (size_t i = 0; i < charts.size(); ++i) {
    const double top = kHeading + double(i) * size.height;
    draw_chart(pen, charts[i], {kLeft, top + kTop, size.width - kLeft - kRight, size.height - kTop - kBottom});
  }
}

}  // namespace

void draw_charts(const std::string& path, const std::string& heading, const std::vector<Chart>& charts,
                 PictureSize size) {
  using Surface = std::unique_ptr<cairo_surface_t, decltype(&cairo_surface_destroy)>;
  using Cairo = std::unique_ptr<cairo_t, decltype(&cairo_destroy)>;
  const double width = size.width, height = kHeading + double(charts.size()) * size.height;
  const bool is_svg = path.ends_with(".svg");
  const Surface surface(is_svg ? cairo_svg_surface_create(path.c_str(), width, height)
                               : cairo_image_surface_create(CAIRO_FORMAT_RGB24, int(width * kPixelsPerPoint),
                                                            int(height * kPixelsPerPoint)),
                        &cairo_surface_destroy);
  const Cairo cairo(cairo_create(surface.get()), &cairo_destroy);
  if (!is_svg) cairo_scale(cairo.get(), kPixelsPerPoint, kPixelsPerPoint);
  draw_all(cairo.get(), heading, charts, size);
  cairo_surface_flush(surface.get());
  cairo_status_t status = cairo_status(cairo.get());
  if (status == CAIRO_STATUS_SUCCESS && !is_svg) status = cairo_surface_write_to_png(surface.get(), path.c_str());
  cairo_surface_finish(surface.get());
  if (status == CAIRO_STATUS_SUCCESS) status = cairo_surface_status(surface.get());
  if (status != CAIRO_STATUS_SUCCESS)
    throw FileError(str("[plot '", path, "'] cannot be written: ", cairo_status_to_string(status), "."));
}

}  // namespace martello::internal
