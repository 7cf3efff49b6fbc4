#include <martello/kernel/library_time.h>

#include <martello/base/internal/clock.h>

namespace martello {

constinit thread_local LibraryTime* LibraryTime::counting_ = nullptr;

LibraryTime::LibraryTime() : before_(counting_) { counting_ = this; }
LibraryTime::~LibraryTime() { counting_ = before_; }

void LibraryTime::Call::start() { start_ = internal::now_seconds(); }
void LibraryTime::Call::stop() { counting_->us_ += 1e6 * (internal::now_seconds() - start_); }

}  // namespace martello
