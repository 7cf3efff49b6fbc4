#include <martello/base/error.h>
#include <martello/codec/crc32c.h>
#include <martello/data/internal/stage.h>
#include <martello/data/internal/stage_clock.h>
#include <martello/input/internal/data_queue.h>
#include <martello/loop/interrupt.h>

#include <chrono>

namespace martello::internal {
namespace {

// How often a wait asks whether a signal has come.
constexpr std::chrono::milliseconds kAskEvery{50};
// What an item costs besides its tensors, so that a flow of empty datapoints is bounded too.
constexpr int64_t kItemBytes = 256;

}  // namespace

uint64_t hash_of(const Datapoint& datapoint) {
  uint32_t crc = crc32c(datapoint.signature());
  for (const HostTensor& t : datapoint.components())
    crc = crc32c({reinterpret_cast<const char*>(t.raw()), static_cast<size_t>(t.num_bytes())}, crc);
  return (uint64_t{1} << 32) | crc;
}

DataQueue::DataQueue(DataFlowRef flow, uint64_t seed, QueueLimits limits, Check check)
    : flow_(std::move(flow)), seed_(seed), limits_(limits), check_(std::move(check)) {
  slots_.resize(static_cast<size_t>(limits_.datapoints));
  spent_.reserve(slots_.size());
  freed_.reserve(slots_.size());
}

void DataQueue::start(const QueueStart& where) {
  stop();
  signal_at_start_ = interrupt_signal();
  interrupt_ = std::make_shared<Interrupt>();
  thread_ = std::thread([this, where] { work(where); });
}

void DataQueue::stop() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    is_stopping_ = true;
  }
  room_.notify_all();
  interrupt_->raise();
  thread_.join();
  forget();
}

void DataQueue::forget() {
  for (Slot& s : slots_) s = {};
  spent_.clear();
  freed_.clear();
  first_ = count_ = 0;
  bytes_ = 0;
  is_filling_ = true;
  is_done_ = is_stopping_ = false;
  error_ = nullptr;
}

// A function of a flow is opaque, and files may change: that a position has the same number does not say that it has
// the same datapoint.
void DataQueue::go_to(TokenIterator& iterator, const QueueStart& where) const {
  if (!where.from) return;
  if (where.hash == 0 || !flow_->is_exact()) return iterator.restore(*where.from);
  if (where.before) iterator.restore(*where.before);
  const std::optional<Item> last = iterator.next();
  const uint64_t hash = last ? hash_of(last->datapoint) : 0;
  MARTELLO_CHECK(
      hash == where.hash, "[data] ", flow_.description(),
      " has changed: the last datapoint before the checkpoint came out otherwise when it was made again (now ",
      last ? last->datapoint.signature() : std::string("none"),
      "). Restore files and functions, or accept \"data\" when resuming.");
}

void DataQueue::work(const QueueStart& where) try {
  data::internal::StageClock clock(times_);
  const std::string stage = flow_.description();
  TokenIterator iterator(flow_, {.seed = seed_, .interrupt = interrupt_, .stage_times = times_});
  go_to(iterator, where);
  for (int64_t ordinal = 0; wait_for_room(); ++ordinal) {
    std::optional<Item> item = clock.run([&] {
      const data::internal::StageScope scope(stage);
      return iterator.next();
    });
    if (!item) return finish(nullptr);
    check_(item->datapoint, ordinal);
    push(std::move(*item));
  }
} catch (...) {
  finish(data::internal::current_error_in(flow_.description()));
}

bool DataQueue::wait_for_room() {
  std::unique_lock lock(mutex_);
  room_.wait(lock, [&] { return is_stopping_ || is_filling_; });
  if (is_stopping_) return false;
  freed_.swap(spent_);
  lock.unlock();
  freed_.clear();
  return true;
}

void DataQueue::push(Item item) {
  const int64_t bytes = kItemBytes + item.datapoint.num_bytes();
  {
    const std::lock_guard lock(mutex_);
    Slot& slot = slots_[(first_ + count_) % slots_.size()];
    slot.item = std::move(item);
    slot.bytes = bytes;
    bytes_ += bytes;
    ++count_;
    is_filling_ = count_ < slots_.size() && bytes_ + bytes <= limits_.bytes;
  }
  ready_.notify_one();
}

void DataQueue::finish(std::exception_ptr error) {
  {
    const std::lock_guard lock(mutex_);
    is_done_ = true;
    error_ = std::move(error);
  }
  ready_.notify_one();
}

void DataQueue::wait_until_ready(std::unique_lock<std::mutex>& lock) {
  while (count_ == 0 && !is_done_) {
    ready_.wait_for(lock, kAskEvery, [&] { return count_ > 0 || is_done_; });
    if (const int signal = interrupt_signal(); signal != 0 && signal_at_start_ == 0)
      throw Interrupted(str("[data] signal ", signal, " ends the wait for ", flow_.description(), "."));
  }
}

bool DataQueue::pop(Item& item, TimeAccount* account, WaitedInput* waiting) {
  std::unique_lock lock(mutex_);
  size_at_pop_ = static_cast<int64_t>(count_);
  if (count_ == 0 && !is_done_) {
    const TimeAccount::Scope wait(account, TimePart::input, waiting);
    wait_until_ready(lock);
  }
  if (count_ == 0 && error_) std::rethrow_exception(error_);
  if (count_ == 0) return false;
  Slot& slot = slots_[first_];
  std::swap(item, slot.item);
  give_back(slot.item);
  bytes_ -= slot.bytes;
  first_ = (first_ + 1) % slots_.size();
  --count_;
  if (is_filling_ || count_ > slots_.size() / 2 || bytes_ > limits_.bytes / 2) return true;
  is_filling_ = true;
  lock.unlock();
  room_.notify_one();
  return true;
}

// Freeing may cost a call of the kernel. Where the thread does not come to it for long, the slot keeps the item.
void DataQueue::give_back(Item& item) {
  if (spent_.size() < spent_.capacity()) spent_.push_back(std::move(item));
}

}  // namespace martello::internal
