#include <martello/callbacks/start_thread.h>

#include <martello/base/error.h>
#include <martello/base/log.h>

#include <signal.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>

namespace martello {

// Of the thread and its callback; lives as long as either.
struct StopFlag::Shared {
  std::mutex mutex;
  std::condition_variable changed;
  bool is_stopping = false, is_done = false;
  std::exception_ptr error;
  std::atomic<bool> has_failed = false;  // read with every step
  std::thread thread;
};

namespace {

std::chrono::duration<double> as_duration(double seconds) { return std::chrono::duration<double>(seconds); }

// New threads inherit the mask.
class AllSignalsBlocked {
 public:
  AllSignalsBlocked() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~AllSignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  AllSignalsBlocked(const AllSignalsBlocked&) = delete;
  AllSignalsBlocked& operator=(const AllSignalsBlocked&) = delete;

 private:
  sigset_t before_;
};

}  // namespace

bool StopFlag::is_set() const {
  const std::lock_guard lock(shared_->mutex);
  return shared_->is_stopping;
}

bool StopFlag::wait(double seconds) const {
  std::unique_lock lock(shared_->mutex);
  return shared_->changed.wait_for(lock, as_duration(seconds), [&] { return shared_->is_stopping; });
}

StartThread::StartThread(std::string thread_name, Body body, StartThreadOptions options)
    : thread_name_(std::move(thread_name)), body_(std::move(body)), options_(options) {
  MARTELLO_CHECK(body_, "[StartThread] the function of thread '", thread_name_, "' is empty.");
  MARTELLO_CHECK(options.wait_seconds >= 0, "[StartThread] .wait_seconds of thread '", thread_name_, "' is ",
                 options.wait_seconds, "; it cannot be below 0.");
  set_chief_only(false);
}

StartThread::~StartThread() {
  if (flag_.shared_ && flag_.shared_->thread.joinable()) stop();
}

void StartThread::before_train() {
  flag_.shared_ = std::make_shared<StopFlag::Shared>();
  const AllSignalsBlocked blocked;
  flag_.shared_->thread = std::thread([flag = flag_, body = body_] {
    std::exception_ptr error;
    try {
      body(flag);
    } catch (...) {
      error = std::current_exception();
    }
    const std::lock_guard lock(flag.shared_->mutex);
    flag.shared_->error = error;
    flag.shared_->has_failed = error != nullptr;
    flag.shared_->is_done = true;
    flag.shared_->changed.notify_all();
  });
}

void StartThread::check() const {
  if (!flag_.shared_ || !flag_.shared_->has_failed) [[likely]]
    return;
  std::exception_ptr error;
  {
    const std::lock_guard lock(flag_.shared_->mutex);
    error = std::exchange(flag_.shared_->error, nullptr);
    flag_.shared_->has_failed = false;
  }
  try {
    std::rethrow_exception(error);
  } catch (Error& e) {
    e.add_context(str("in thread '", thread_name_, "'"));
    throw;
  } catch (const std::exception& e) {
    throw FailedPrecondition(str("[StartThread] thread '", thread_name_, "' has ended with an error: ", e.what()));
  }
}

void StartThread::stop() {
  StopFlag::Shared& shared = *flag_.shared_;
  std::unique_lock lock(shared.mutex);
  shared.is_stopping = true;
  shared.changed.notify_all();
  shared.changed.wait_for(lock, as_duration(options_.wait_seconds), [&] { return shared.is_done; });
  const bool is_done = shared.is_done;
  lock.unlock();
  if (is_done) return shared.thread.join();
  logger::error("[StartThread] thread '", thread_name_, "' still runs ", options_.wait_seconds,
                " s after it was told to stop. It is left to itself.");
  shared.thread.detach();
}

void StartThread::after_train() {
  if (!flag_.shared_) return;
  if (options_.stop_at_last) stop();
  else flag_.shared_->thread.detach();
  check();
}

}  // namespace martello
