#include <martello/base/log.h>
#include <martello/callbacks/inference/internal/progress.h>

#include <unistd.h>

#include <cmath>
#include <cstdio>

namespace martello::internal {
namespace {

constexpr std::chrono::milliseconds kOnTerminal(500);
constexpr std::chrono::seconds kInLog(180);

}  // namespace

DataProgress::DataProgress(std::string title, std::optional<int64_t> total)
    : title_(std::move(title)),
      total_(total),
      is_terminal_(isatty(STDERR_FILENO) != 0),
      interval_(is_terminal_ ? std::chrono::steady_clock::duration(kOnTerminal) : kInLog),
      start_(std::chrono::steady_clock::now()),
      next_(start_ + interval_) {}

DataProgress::~DataProgress() {
  if (is_drawn_ && is_terminal_) std::fputs("\r\x1b[K", stderr);
}

void DataProgress::draw(int64_t done) {
  const auto now = std::chrono::steady_clock::now();
  const double rate = static_cast<double>(done) / std::chrono::duration<double>(now - start_).count();
  const std::string of = total_ ? str("/", *total_) : "";
  const std::string text = str(title_, " ", done, of, ", ", std::round(rate * 10) / 10, " per second");
  if (is_terminal_) std::fprintf(stderr, "\r\x1b[K%s", text.c_str());
  else logger::info(text);
  is_drawn_ = true;
  next_ = now + interval_;
}

}  // namespace martello::internal
