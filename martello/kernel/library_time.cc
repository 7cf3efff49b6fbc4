#include <martello/kernel/library_time.h>

#include <chrono>

namespace martello {
namespace {

double now_us() {
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

constinit thread_local LibraryTime* LibraryTime::counting_ = nullptr;

LibraryTime::LibraryTime() : before_(counting_) { counting_ = this; }
LibraryTime::~LibraryTime() { counting_ = before_; }

void LibraryTime::Call::start() { start_us_ = now_us(); }
void LibraryTime::Call::stop() { counting_->us_ += now_us() - start_us_; }

}  // namespace martello
