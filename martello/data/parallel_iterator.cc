#include <martello/data/internal/parallel_iterator.h>

#include <algorithm>

namespace martello::data::internal {
namespace {

// What a slot costs besides its tensors, so that a flow of empty datapoints is bounded too.
constexpr int64_t kSlotBytes = 256;

}  // namespace

ParallelIterator::ParallelIterator(ParallelParts parts, const Pass& pass)
    : StageIterator(parts.stage),
      parts_(std::move(parts)),
      key_(pass.key()),
      outer_(pass.interrupt),
      inner_(std::make_shared<Interrupt>()),
      times_(pass.stage_times),
      source_stage_(parts_.source.description()),
      guard_(parts_.bad_samples, parts_.stage, parts_.source.size(), pass.number),
      source_(parts_.source, (parts_.f ? pass.below() : pass).with_interrupt(inner_)) {
  if (!outer_) return;
  waker_ = outer_->add([this] {
    {
      const std::lock_guard lock(mutex_);
      is_interrupted_ = true;
    }
    ready_.notify_all();
    room_.notify_all();
    inner_->raise();
  });
}

ParallelIterator::~ParallelIterator() {
  if (outer_) outer_->remove(waker_);
  inner_->raise();
  stop();
}

void ParallelIterator::start() {
  if (!threads_.empty() || source_done_) return;
  try {
    for (int i = 0; i < parts_.threads; ++i) threads_.emplace_back([this] { work(); });
  } catch (...) {
    stop();
    throw;
  }
}

void ParallelIterator::stop() {
  {
    const std::lock_guard lock(mutex_);
    is_stopping_ = true;
  }
  room_.notify_all();
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
  is_stopping_ = false;
}

void ParallelIterator::work() {
  try {
    StageClock clock(times_);
    while (clock.run([this] { return work_once(); })) {
    }
  } catch (...) {  // no memory for a slot
    const std::lock_guard lock(mutex_);
    end(std::current_exception());
  }
}

bool ParallelIterator::work_once() {
  Datapoint input;
  Slot* slot = nullptr;
  if (!take(input, slot)) return false;
  if (slot != nullptr) run(*slot, std::move(input));
  return true;
}

// False at the end. No slot: the datapoint needs no work.
bool ParallelIterator::take(Datapoint& input, Slot*& slot) {
  const std::lock_guard turn(source_mutex_);
  if (!wait_for_room()) return false;
  std::optional<Item> item;
  std::exception_ptr error;
  try {
    const StageScope scope(source_stage_);
    item = source_.next();
  } catch (...) {
    error = std::current_exception();
  }
  const std::lock_guard lock(mutex_);
  if (!item) return end(error), false;
  input = std::move(item->datapoint);
  slot = admit(std::move(item->token));
  return true;
}

bool ParallelIterator::wait_for_room() {
  std::unique_lock lock(mutex_);
  room_.wait(lock, [&] { return is_stopping_ || is_interrupted_ || source_done_ || has_room(); });
  return !is_stopping_ && !is_interrupted_ && !source_done_;
}

bool ParallelIterator::has_room() const {
  return slots_.empty() || held_bytes_ + (working_ + 1) * (usual_bytes_ + kSlotBytes) <= parts_.buffer_bytes;
}

void ParallelIterator::end(const std::exception_ptr& error) {
  source_done_ = true;
  ready_.notify_one();
  if (!error) return;
  Slot& slot = slots_.emplace_back();
  slot.ordinal = next_ordinal_;
  slot.state = Slot::State::ready;
  slot.error = error;
  slot.is_source_error = true;
  if (!parts_.ordered) finished_.push_back(&slot);
}

ParallelIterator::Slot* ParallelIterator::admit(Token after) {
  Slot& slot = slots_.emplace_back();
  slot.ordinal = next_ordinal_++;
  slot.after = std::move(after);
  if (was_delivered_.erase(slot.ordinal) == 0) {
    ++working_;
    return &slot;
  }
  slot.state = Slot::State::delivered;
  drop_delivered();
  ready_.notify_one();
  return nullptr;
}

void ParallelIterator::run(Slot& slot, Datapoint input) {
  if (!parts_.f) return finish(slot, std::move(input), nullptr);
  std::optional<Datapoint> result;
  std::exception_ptr error;
  try {
    const StageScope scope(parts_.stage, parts_.threads);
    Rng rng(key_, static_cast<uint64_t>(slot.ordinal));
    result = parts_.f(std::move(input), rng);
  } catch (...) {
    error = current_error_in(parts_.stage);
  }
  finish(slot, std::move(result), std::move(error));
}

void ParallelIterator::finish(Slot& slot, std::optional<Datapoint> result, std::exception_ptr error) {
  const std::lock_guard lock(mutex_);
  slot.bytes = kSlotBytes + (result ? result->num_bytes() : 0);
  slot.result = std::move(result);
  slot.error = std::move(error);
  slot.state = Slot::State::ready;
  --working_;
  held_bytes_ += slot.bytes;
  usual_bytes_ = slot.bytes;
  if (!parts_.ordered) finished_.push_back(&slot);
  if (!parts_.ordered || &slot == &slots_.front()) ready_.notify_one();
}

ParallelIterator::Slot* ParallelIterator::find_ready() {
  if (parts_.ordered) return !slots_.empty() && slots_.front().state == Slot::State::ready ? &slots_.front() : nullptr;
  return finished_.empty() ? nullptr : finished_.front();
}

void ParallelIterator::wait_until_ready(std::unique_lock<std::mutex>& lock) {
  const StageScope waiting(kWaiting);
  ready_.wait(lock, [&] { return is_interrupted_ || find_ready() || (source_done_ && slots_.empty()); });
}

std::optional<Datapoint> ParallelIterator::produce() {
  start();
  for (;;) {
    std::unique_lock lock(mutex_);
    wait_until_ready(lock);
    if (is_interrupted_) throw Interrupted(str("[", stage(), "] was interrupted."));
    Slot* slot = find_ready();
    if (slot == nullptr) return std::nullopt;
    std::optional<Datapoint> dp = deliver(*slot);
    const bool may_admit = has_room();
    lock.unlock();
    if (may_admit) room_.notify_one();
    if (dp) return dp;
  }
}

// The slot's datapoint; none when it was dropped.
std::optional<Datapoint> ParallelIterator::deliver(Slot& slot) {
  if (slot.error && (slot.is_source_error || guard_.stops())) std::rethrow_exception(slot.error);
  if (slot.error) slot.result = guard_.handle(slot.ordinal, slot.error);
  std::optional<Datapoint> dp = std::move(slot.result);
  slot.state = Slot::State::delivered;
  held_bytes_ -= slot.bytes;
  if (!parts_.ordered) finished_.pop_front();
  drop_delivered();
  return dp;
}

void ParallelIterator::drop_delivered() {
  while (!slots_.empty() && slots_.front().state == Slot::State::delivered) {
    watermark_ = std::move(slots_.front().after);
    ++watermark_ordinal_;
    slots_.pop_front();
  }
}

void ParallelIterator::position(martello::State& s) {
  std::vector<int64_t> delivered;
  if (s.restoring()) stop();
  const std::lock_guard lock(mutex_);
  for (const Slot& slot : slots_)
    if (slot.state == Slot::State::delivered) delivered.push_back(slot.ordinal);
  delivered.insert(delivered.end(), was_delivered_.begin(), was_delivered_.end());
  s("watermark", watermark_), s("ordinal", watermark_ordinal_), s("delivered", delivered), s("bad_samples", guard_);
  if (!s.restoring()) return;
  slots_.clear();
  finished_.clear();
  was_delivered_ = {delivered.begin(), delivered.end()};
  next_ordinal_ = watermark_ordinal_;
  held_bytes_ = working_ = 0;
  source_done_ = false;
  source_.restore(watermark_);
}

// Before anything was read ahead the source can pass over them by itself.
void ParallelIterator::advance(int64_t n) {
  const bool may_drop = parts_.f && (parts_.f.may_drop() || !guard_.stops());
  if (!threads_.empty() || source_done_ || may_drop || !was_delivered_.empty()) return StageIterator::advance(n);
  source_.skip(n);
  watermark_ = source_.token();
  watermark_ordinal_ = next_ordinal_ = saturating_add(next_ordinal_, n);
}

}  // namespace martello::data::internal
