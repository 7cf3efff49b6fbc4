#pragma once
#include <martello/base/internal/clock.h>

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
    if (now_seconds() >= next_) draw(done);
  }

 private:
  void draw(int64_t done);

  std::string title_;
  std::optional<int64_t> total_;
  bool is_terminal_;
  bool is_drawn_ = false;
  double interval_, start_, next_;  // seconds
};

}  // namespace martello::internal
