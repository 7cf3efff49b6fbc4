#pragma once
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

namespace martello::internal {

// Shows how far something long is: one line that is drawn over again on a terminal, elsewhere a line of the log now and
// then. Something short shows nothing.
class DataProgress {
 public:
  DataProgress(std::string title, std::optional<int64_t> total);
  ~DataProgress();  // takes the line away
  DataProgress(const DataProgress&) = delete;
  DataProgress& operator=(const DataProgress&) = delete;

  void show(int64_t done) {
    if (std::chrono::steady_clock::now() >= next_) draw(done);
  }

 private:
  void draw(int64_t done);

  std::string title_;
  std::optional<int64_t> total_;
  bool is_terminal_;
  bool is_drawn_ = false;
  std::chrono::steady_clock::duration interval_;
  std::chrono::steady_clock::time_point start_, next_;
};

}  // namespace martello::internal
