#pragma once
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace martello::internal {

struct Progress {
  int64_t done = 0, total = 0;
  double elapsed_seconds = 0;
  double steps_per_second = 0;                               // 0: not known yet
  std::vector<std::pair<std::string, double>> scalars = {};  // shown behind
};

// " 45%|####5     |45/100 [00:12<00:15, 3.60 steps/s] cost=0.123"
std::string progress_bar(const Progress& p);
// "45/100 (45%), 3.60 steps/s, 00:15 left, cost=0.123"
std::string progress_line(const Progress& p);
// "01:05", "2:03:04"
std::string clock_text(double seconds);

// How often to show progress, in seconds: see ProgressBarOptions.
double refresh_seconds(bool is_terminal);

}  // namespace martello::internal
