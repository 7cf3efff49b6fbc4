#include <martello/base/strings.h>
#include <martello/callbacks/internal/progress_text.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>

namespace martello::internal {
namespace {

int percent(const Progress& p) { return static_cast<int>(100 * p.done / std::max<int64_t>(p.total, 1)); }

std::string rate_text(const Progress& p) {
  if (p.steps_per_second <= 0) return "? steps/s";
  char text[48];
  snprintf(text, sizeof text, p.steps_per_second < 1000 ? "%.2f steps/s" : "%.0f steps/s", p.steps_per_second);
  return text;
}

std::string left_text(const Progress& p) {
  return p.steps_per_second <= 0 ? "?" : clock_text(static_cast<double>(p.total - p.done) / p.steps_per_second);
}

std::string scalars_text(const Progress& p, std::string_view before) {
  std::string text;
  for (const auto& [name, value] : p.scalars) {
    char digits[32];
    snprintf(digits, sizeof digits, "%.3g", value);
    text += str(text.empty() ? before : ", ", name, "=", digits);
  }
  return text;
}

}  // namespace

std::string clock_text(double seconds) {
  const auto s = static_cast<long long>(std::min(std::round(seconds), 1e15));
  char text[48];
  if (s >= 3600) snprintf(text, sizeof text, "%lld:%02lld:%02lld", s / 3600, s / 60 % 60, s % 60);
  else snprintf(text, sizeof text, "%02lld:%02lld", s / 60, s % 60);
  return text;
}

std::string progress_bar(const Progress& p) {
  constexpr int64_t kWidth = 10;
  const int64_t tenths = 10 * kWidth * p.done / std::max<int64_t>(p.total, 1);
  std::string bar(static_cast<size_t>(tenths / 10), '#');
  if (tenths % 10 > 0) bar += static_cast<char>('0' + tenths % 10);
  bar.resize(kWidth, ' ');
  char head[8];
  snprintf(head, sizeof head, "%3d%%|", percent(p));
  return str(head, bar, "|", p.done, "/", p.total, " [", clock_text(p.elapsed_seconds), "<", left_text(p), ", ",
             rate_text(p), "]", scalars_text(p, " "));
}

std::string progress_line(const Progress& p) {
  const bool is_over = p.done >= p.total;
  return str(p.done, "/", p.total, " (", percent(p), "%), ", rate_text(p), ", ",
             is_over ? str(clock_text(p.elapsed_seconds), " in all") : str(left_text(p), " left"),
             scalars_text(p, ", "));
}

double refresh_seconds(bool is_terminal) {
  if (const char* text = std::getenv("MARTELLO_PROGRESS_REFRESH"))
    if (const double seconds = std::atof(text); seconds > 0) return seconds;
  if (is_terminal) return 0.5;
  if (std::getenv("SLURM_JOB_ID")) {
    const char* nodes = std::getenv("SLURM_JOB_NUM_NODES");
    return nodes && std::atoi(nodes) > 1 ? 60 : 15;
  }
  return std::getenv("OMPI_COMM_WORLD_SIZE") ? 60 : 180;
}

}  // namespace martello::internal
