#include <martello/loop/interrupt.h>

#include <martello/base/error.h>

#include <semaphore.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <ctime>
#include <iterator>
#include <memory>
#include <mutex>
#include <thread>

namespace martello {
namespace {

// Used by the handler, so nothing here takes a lock. It may still be on its way on another thread when the last scope
// is closed, so nothing of it ever ends.
std::atomic<int> arrived_signal = 0;
std::atomic<int> num_sigint = 0;
std::atomic<bool> is_open = false;
sem_t wake;  // of the watchdog
static_assert(std::atomic<int>::is_always_lock_free && std::atomic<bool>::is_always_lock_free);

// Ends the process when training does not end in time.
class Watchdog {
 public:
  explicit Watchdog(double grace_seconds) : grace_seconds_(grace_seconds), thread_([this] { watch(); }) {}
  ~Watchdog() {
    is_closing_ = true;
    sem_post(&wake);
    thread_.join();
  }

 private:
  void watch() {
    // The handler runs on other threads, so that a signal interrupts their waits.
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, nullptr);
    while (!is_closing_ && arrived_signal == 0) sem_wait(&wake);
    timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += static_cast<time_t>(grace_seconds_);
    until.tv_nsec +=
        static_cast<long>((grace_seconds_ - static_cast<double>(static_cast<time_t>(grace_seconds_))) * 1e9);
    if (until.tv_nsec >= 1000000000L) until.tv_sec += 1, until.tv_nsec -= 1000000000L;
    while (!is_closing_)
      if (sem_timedwait(&wake, &until) != 0 && errno == ETIMEDOUT) end_process();
  }
  [[noreturn]] static void end_process() {
    static constexpr char kText[] = "[trainer] training did not end within the grace period after a signal.\n";
    [[maybe_unused]] const auto written = write(STDERR_FILENO, kText, sizeof kText - 1);
    _exit(128 + arrived_signal);
  }

  double grace_seconds_;
  std::atomic<bool> is_closing_ = false;
  std::thread thread_;
};

std::unique_ptr<Watchdog> watchdog;

void note(int number) {
  int none = 0;
  arrived_signal.compare_exchange_strong(none, number);
  sem_post(&wake);
}

void on_signal(int number) {
  const int saved_errno = errno;
  if (!is_open) {
    // The scope was closed while the signal was on its way. It is blocked until the handler returns, then the one that
    // was there before takes it.
    std::raise(number);
    errno = saved_errno;
    return;
  }
  if (number == SIGINT && num_sigint.fetch_add(1) > 0) {
    // It is blocked until the handler returns, then it kills.
    std::signal(SIGINT, SIG_DFL);
    std::raise(SIGINT);
  }
  note(number);
  errno = saved_errno;
}

// A write that would make a file too large fails with EFBIG, as on a full disk. Not SIG_IGN, which commands that
// training starts would inherit.
void on_file_limit(int) {}

std::mutex scopes_mutex;
int num_scopes = 0;
constexpr int kSignals[] = {SIGINT, SIGTERM, SIGUSR1, SIGXFSZ};
struct sigaction previous[std::size(kSignals)];

}  // namespace

InterruptScope::InterruptScope(double grace_seconds) {
  MARTELLO_CHECK(grace_seconds > 0, "[trainer] grace_seconds is ", grace_seconds, " but needs to be above 0.");
  std::lock_guard lock(scopes_mutex);
  if (num_scopes++ > 0) return;
  arrived_signal = 0;
  num_sigint = 0;
  [[maybe_unused]] static const int once = sem_init(&wake, 0, 0);
  watchdog = std::make_unique<Watchdog>(grace_seconds);
  is_open = true;
  struct sigaction action;
  std::memset(&action, 0, sizeof action);
  sigemptyset(&action.sa_mask);
  for (size_t i = 0; i < std::size(kSignals); ++i) {
    action.sa_handler = kSignals[i] == SIGXFSZ ? on_file_limit : on_signal;
    sigaction(kSignals[i], &action, &previous[i]);
  }
}

InterruptScope::~InterruptScope() {
  std::lock_guard lock(scopes_mutex);
  if (--num_scopes > 0) return;
  for (size_t i = 0; i < std::size(kSignals); ++i) sigaction(kSignals[i], &previous[i], nullptr);
  is_open = false;
  watchdog.reset();
  arrived_signal = 0;
}

void request_interrupt(int signal) {
  std::lock_guard lock(scopes_mutex);
  if (num_scopes == 0) return;
  note(signal);
}

// A handler that is late may still set it after the last scope.
int interrupt_signal() {
  return is_open.load(std::memory_order_relaxed) ? arrived_signal.load(std::memory_order_relaxed) : 0;
}

}  // namespace martello
