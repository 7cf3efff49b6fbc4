#include <martello/base/error.h>
#include <martello/base/log.h>
#include <martello/base/state.h>
#include <martello/graph/core_ops.h>
#include <martello/input/input_source.h>
#include <martello/input/internal/queue_feeder.h>
#include <martello/loop/monitors.h>

namespace martello::internal {
namespace {

// Groups behind the one in use that are kept: the session holds the tensors of the last run until the next one, and
// memory is to be freed by the data thread.
constexpr size_t kKeptGroups = 2;

}  // namespace

QueueFeeder::QueueFeeder(QueueFeederParts parts) : parts_(std::move(parts)) { set_chief_only(false); }

void QueueFeeder::setup(const std::vector<TensorSpec>& signature) {
  MARTELLO_CHECK(!signature.empty(), "[", parts_.who, "] the signature has no input to feed.");
  MARTELLO_CHECK(!queue_, "[", parts_.who, "] is set up while it feeds a training. One trainer, one input.");
  signature_ = signature;
  check_ = SignatureCheck(signature, parts_.who, parts_.flow.description());
  towers_.clear();
  cursor_ = {};
  is_restored_ = false;
}

TensorList QueueFeeder::add_tower() {
  MARTELLO_CHECK(!signature_.empty(), "[", parts_.who, "] get_input_tensors() comes before setup().");
  TensorList tensors;
  for (const TensorSpec& s : signature_) tensors.push_back(placeholder(s.shape, s.dtype, Name(s.name, s.line)));
  towers_.push_back(tensors);
  return tensors;
}

void QueueFeeder::stage(int64_t steps) { staged_steps_ = steps; }

void QueueFeeder::reset() {
  cursor_ = {};
  if (queue_) start();
}

// The first datapoint is waited for here, so that one that does not fit is refused before the first step.
void QueueFeeder::before_train() {
  account_ = context().time_account();
  if (towers_.empty()) return;
  if (!is_restored_) cursor_ = {};
  if (!parts_.flow->is_exact())
    logger::warn("[", parts_.who, "] ", parts_.flow.description(),
                 " gives datapoints in no fixed order: a resumed run loses and repeats none, but is not the same run.");
  queue_ = std::make_unique<DataQueue>(parts_.flow, parts_.seed, parts_.limits,
                                       [this](const Datapoint& d, int64_t ordinal) { check_.check(d, ordinal); });
  start();
  fill();
}

void QueueFeeder::start() {
  groups_.assign(static_cast<size_t>(staged_steps_) + 1 + kKeptGroups, Group(towers_.size()));
  first_ = count_ = left_over_ = 0;
  size_sum_ = 0;
  num_sizes_ = 0;
  queue_->start(cursor_);
  started_ = save_state(*this);
  is_taken_ = false;
}

void QueueFeeder::fill() {
  while (count_ <= static_cast<size_t>(staged_steps_)) {
    try {
      if (!pop(groups_[(first_ + count_) % groups_.size()])) break;
    } catch (const Interrupted&) {
      throw;
    } catch (...) {
      if (count_ == 0) throw;  // otherwise the steps before it still have their data
      break;
    }
    ++count_;
  }
}

// Tower i takes datapoint step * towers + i.
bool QueueFeeder::pop(Group& group) {
  for (size_t i = 0; i < group.size(); ++i)
    if (!queue_->pop(group[i], account_, this)) {
      if (i > 0) left_over_ = i;
      return false;
    }
  return true;
}

void QueueFeeder::before_run(RunContext& run) {
  if (towers_.empty()) return;
  MARTELLO_ASSERT(queue_, "a run of '", name(), "' comes before before_train.");
  fill();
  if (count_ == 0) throw_end();
  size_sum_ += static_cast<double>(queue_->size_at_pop());
  ++num_sizes_;
  const Group& group = groups_[first_];
  for (size_t t = 0; t < towers_.size(); ++t)
    for (size_t i = 0; i < signature_.size(); ++i)
      run.feed(towers_[t].vector()[i], check_.component(group[t].datapoint, i));
}

void QueueFeeder::throw_end() const {
  const std::string rest =
      left_over_ == 0 ? "" : str("; ", left_over_, " of them are left, too few for ", towers_.size(), " towers");
  throw EndOfData(str("the data of '", name(), "' is at its end", rest));
}

// Only now the datapoints are consumed: a run that was not done is not left out after a resume.
void QueueFeeder::after_run(RunContext&) {
  if (count_ == 0) return;
  const Group& group = groups_[first_];
  cursor_.before = group.size() > 1 ? group[group.size() - 2].token : cursor_.from;
  cursor_.from = group.back().token;
  cursor_.hash = 0;
  is_taken_ = true;
  first_ = (first_ + 1) % groups_.size();
  --count_;
}

void QueueFeeder::trigger_epoch() {
  if (num_sizes_ == 0) return;
  monitors().put_scalar(str(name(), "/queue_size"), size_sum_ / static_cast<double>(num_sizes_),
                        ScalarClass::volatile_);
  size_sum_ = 0;
  num_sizes_ = 0;
}

void QueueFeeder::after_train() {
  cursor_ = position();
  queue_.reset();
  groups_.clear();
  count_ = 0;
  account_ = nullptr;
  is_restored_ = false;
}

// The datapoint itself is still in the ring, behind the group in use.
QueueStart QueueFeeder::position() {
  if (is_taken_ && cursor_.hash == 0 && !groups_.empty())
    cursor_.hash = hash_of(groups_[(first_ + groups_.size() - 1) % groups_.size()].back().datapoint);
  return cursor_;
}

std::string QueueFeeder::description() const {
  return str(name(), "(", parts_.flow.description(), ", seed=", parts_.seed, ")");
}

namespace {

void token_state(State& s, std::string_view key, std::optional<Token>& token) {
  bool has_token = token.has_value();
  s(str("has_", key), has_token);
  if (s.restoring()) token = has_token ? std::optional<Token>(Token()) : std::nullopt;
  if (has_token) s(key, *token);
}

}  // namespace

void QueueFeeder::state(State& s) {
  if (!s.restoring()) position();
  token_state(s, "cursor", cursor_.from);
  token_state(s, "before", cursor_.before);
  s("hash", cursor_.hash);
  if (!s.restoring()) return;
  is_restored_ = true;
  if (has_context() && context().accepts("data")) cursor_.hash = 0;
  // Restored once more where it is already: what was read ahead is still right.
  if (queue_ && (is_taken_ || save_state(*this) != started_)) start();
}

std::string QueueFeeder::slowest_stage() {
  return queue_ ? martello::slowest_stage(queue_->times().take()) : std::string();
}

}  // namespace martello::internal
