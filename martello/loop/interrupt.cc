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

// Written by the handler, so nothing here takes a lock.
std::atomic<int> arrived_signal = 0;
std::atomic<int> num_sigint = 0;
static_assert(std::atomic<int>::is_always_lock_free);

// Ends the process when training does not end in time.
class Watchdog {
 public:
  explicit Watchdog(double grace_seconds) : grace_seconds_(grace_seconds) {
    sem_init(&wake_, 0, 0);
    thread_ = std::thread([this] { watch(); });
  }
  ~Watchdog() {
    is_closing_ = true;
    sem_post(&wake_);
    thread_.join();
    sem_destroy(&wake_);
  }
  void on_signal() { sem_post(&wake_); }

 private:
  void watch() {
    // The handler runs on other threads, so that a signal interrupts their waits.
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, nullptr);
    while (!is_closing_ && arrived_signal == 0) sem_wait(&wake_);
    timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += static_cast<time_t>(grace_seconds_);
    until.tv_nsec +=
        static_cast<long>((grace_seconds_ - static_cast<double>(static_cast<time_t>(grace_seconds_))) * 1e9);
    if (until.tv_nsec >= 1000000000L) until.tv_sec += 1, until.tv_nsec -= 1000000000L;
    while (!is_closing_)
      if (sem_timedwait(&wake_, &until) != 0 && errno == ETIMEDOUT) end_process();
  }
  [[noreturn]] static void end_process() {
    static constexpr char kText[] = "[trainer] training did not end within the grace period after a signal.\n";
    [[maybe_unused]] const auto written = write(STDERR_FILENO, kText, sizeof kText - 1);
    _exit(128 + arrived_signal);
  }

  double grace_seconds_;
  sem_t wake_;
  std::atomic<bool> is_closing_ = false;
  std::thread thread_;
};

std::unique_ptr<Watchdog> owned_watchdog;
std::atomic<Watchdog*> watchdog = nullptr;  // the same, for the handler

void on_signal(int number) {
  const int saved_errno = errno;
  if (number == SIGINT && num_sigint.fetch_add(1) > 0) {
    // It is blocked until the handler returns, then it kills.
    std::signal(SIGINT, SIG_DFL);
    std::raise(SIGINT);
  }
  int none = 0;
  arrived_signal.compare_exchange_strong(none, number);
  if (Watchdog* dog = watchdog.load()) dog->on_signal();
  errno = saved_errno;
}

std::mutex scopes_mutex;
int num_scopes = 0;
constexpr int kSignals[] = {SIGINT, SIGTERM, SIGUSR1};
struct sigaction previous[std::size(kSignals)];

}  // namespace

InterruptScope::InterruptScope(double grace_seconds) {
  MARTELLO_CHECK(grace_seconds > 0, "[trainer] grace_seconds is ", grace_seconds, " but needs to be above 0.");
  std::lock_guard lock(scopes_mutex);
  if (num_scopes++ > 0) return;
  arrived_signal = 0;
  num_sigint = 0;
  owned_watchdog = std::make_unique<Watchdog>(grace_seconds);
  watchdog = owned_watchdog.get();
  struct sigaction action;
  std::memset(&action, 0, sizeof action);
  action.sa_handler = on_signal;
  sigemptyset(&action.sa_mask);
  for (size_t i = 0; i < std::size(kSignals); ++i) sigaction(kSignals[i], &action, &previous[i]);
}

InterruptScope::~InterruptScope() {
  std::lock_guard lock(scopes_mutex);
  if (--num_scopes > 0) return;
  for (size_t i = 0; i < std::size(kSignals); ++i) sigaction(kSignals[i], &previous[i], nullptr);
  watchdog = nullptr;
  owned_watchdog.reset();
  arrived_signal = 0;
}

void request_interrupt(int signal) {
  std::lock_guard lock(scopes_mutex);
  if (num_scopes == 0) return;
  int none = 0;
  arrived_signal.compare_exchange_strong(none, signal);
  owned_watchdog->on_signal();
}

int interrupt_signal() { return arrived_signal.load(std::memory_order_relaxed); }

}  // namespace martello
