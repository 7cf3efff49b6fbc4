#include <martello/base/log.h>
#include <martello/callbacks/inference/internal/progress.h>
#include <martello/callbacks/internal/progress_text.h>

#include <unistd.h>

#include <cmath>
#include <cstdio>

namespace martello::internal {

DataProgress::DataProgress(std::string title, std::optional<int64_t> total)
    : title_(std::move(title)),
      total_(total),
      is_terminal_(isatty(STDERR_FILENO) != 0),
      interval_(refresh_seconds(is_terminal_)),
      start_(now_seconds()),
      next_(start_ + interval_) {}

DataProgress::~DataProgress() {
  if (is_drawn_ && is_terminal_) std::fputs("\r\x1b[K", stderr);
}

void DataProgress::draw(int64_t done) {
  const double now = now_seconds(), rate = static_cast<double>(done) / (now - start_);
  const std::string of = total_ ? str("/", *total_) : "";
  const std::string text = str(title_, " ", done, of, ", ", std::round(rate * 10) / 10, " per second");
  if (is_terminal_) std::fprintf(stderr, "\r\x1b[K%s", text.c_str());
  else logger::info(text);
  is_drawn_ = true;
  next_ = now + interval_;
}

}  // namespace martello::internal
