#pragma once
#include <martello/data/token.h>
#include <martello/loop/time_account.h>

#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

namespace martello::internal {

struct QueueLimits {
  int64_t datapoints = 1;
  int64_t bytes = 1;  // the first datapoint is always admitted
};

// Where a queue begins.
struct QueueStart {
  std::optional<Token> from = {};    // after the datapoint of this token; none: at the beginning
  std::optional<Token> before = {};  // of the datapoint in front of that one; none: it was the first
  uint64_t hash = 0;                 // of that datapoint; it is made again and compared. 0: it is not
};
// Of keys, dtypes, shapes and bytes; never 0.
uint64_t hash_of(const Datapoint& datapoint);

// Reads a flow on a thread of its own into a bounded queue. The thread never spins, and once the queue is full it
// sleeps until half of it is gone: many short naps would disturb the threads that compute.
class DataQueue {
 public:
  // Called on the thread for each datapoint, with its number; what it throws is an error of the data.
  using Check = std::function<void(const Datapoint&, int64_t)>;

  DataQueue(DataFlowRef flow, uint64_t seed, QueueLimits limits, Check check);
  ~DataQueue() { stop(); }
  DataQueue(const DataQueue&) = delete;
  DataQueue& operator=(const DataQueue&) = delete;

  void start(const QueueStart& where);
  // Ends every wait of the flow, joins the thread and forgets what was read.
  void stop();
  bool is_running() const { return thread_.joinable(); }

  // The next item. False at the end; throws the flow's error in its place, and Interrupted when a signal ends the wait.
  // What `item` held is freed by the thread, not by the caller.
  bool pop(Item& item, TimeAccount* account, WaitedInput* waiting);
  // Datapoints that were ready when the last one was asked for.
  int64_t size_at_pop() const { return size_at_pop_; }
  StageTimes& times() { return *times_; }

 private:
  struct Slot {
    Item item;
    int64_t bytes = 0;
  };

  void work(const QueueStart& where);
  void go_to(TokenIterator& iterator, const QueueStart& where) const;
  bool wait_for_room();
  void push(Item item);
  void finish(std::exception_ptr error);
  void wait_until_ready(std::unique_lock<std::mutex>& lock);
  void give_back(Item& item);
  void forget();

  DataFlowRef flow_;
  uint64_t seed_;
  QueueLimits limits_;
  Check check_;
  std::shared_ptr<StageTimes> times_ = std::make_shared<StageTimes>();
  std::shared_ptr<Interrupt> interrupt_;
  std::thread thread_;
  int signal_at_start_ = 0;
  int64_t size_at_pop_ = 0;

  std::mutex mutex_;
  std::condition_variable room_, ready_;
  std::vector<Slot> slots_;  // a ring
  size_t first_ = 0, count_ = 0;
  int64_t bytes_ = 0;
  std::vector<Item> spent_, freed_;  // given back; taken from there by the thread, to be freed without the lock
  bool is_filling_ = true, is_done_ = false, is_stopping_ = false;
  std::exception_ptr error_;
};

}  // namespace martello::internal
