// How a trainer saves itself.
#include <martello/base/append_file.h>
#include <martello/base/error.h>
#include <martello/base/internal/clock.h>
#include <martello/base/log.h>
#include <martello/base/state.h>
#include <martello/graph/collections.h>
#include <martello/loop/interrupt.h>
#include <martello/train/internal/callback_keys.h>
#include <martello/train/internal/trainer_impl.h>

#include <unistd.h>

#include <csignal>

namespace martello {
namespace {

constexpr double kLookEvery = 0.5;  // seconds

std::vector<NamedTensor> values_of(const std::vector<Variable>& variables, Session& session) {
  std::vector<NamedTensor> values;
  values.reserve(variables.size());
  for (const Variable& v : variables) values.push_back({v.handle().name(), session.get(v.handle())});
  return values;
}

void add_state(State& s, const std::string& key, Callback& callback) try { s(key, callback); } catch (Error& e) {
  e.add_context(str("in the state of callback '", key, "'"));
  throw;
} catch (const std::exception&) {
  logger::error("[checkpoints] the state of callback '", key, "' cannot be saved.");
  throw;
}

std::string callback_states(const CallbackList& callbacks, CommitPoint& pending) {
  State s;
  std::vector<std::string> keys = callback_keys(callbacks);
  s("callbacks", keys);
  pending.state(s);
  for (size_t i = 0; i < keys.size(); ++i) add_state(s, keys[i], *callbacks[i]);
  return s.bytes();
}

// Whether there was such a file, which asks for something once.
bool take_file(const std::string& path) { return ::unlink(path.c_str()) == 0; }

}  // namespace

Checkpoint Trainer::Impl::capture(const LoopPosition& at, std::string end, std::vector<BestTag> best) {
  const auto keys = callback_keys(group->list());
  if (fingerprint.empty()) fingerprint = fingerprint_of(parts);
  Checkpoint c{.info = {.global_step = loop.global_step,
                        .position = at,
                        .next_callback = at.next_callback < keys.size() ? keys[at.next_callback] : "",
                        .end = std::move(end),
                        .run = run,
                        .saved_at = saver.next_time(),
                        .best = std::move(best)}};
  c.variables = values_of(graph.collections().get(kGlobalVariables), *session);
  c.local_variables = values_of(graph.collections().get(kLocalVariables), *session);
  c.state = callback_states(group->list(), commit_point);
  c.fingerprint = fingerprint;
  c.kernel_choices = session->kernel_choices().str();
  return c;
}

void Trainer::Impl::save(const CommitPoint::Commit& commit) {
  const bool is_last = commit.position.phase == Phase::trigger_epoch && loop.is_last_epoch();
  std::string end = is_last ? "finished" : told_end;
  if (group->stop_reason()) end = str("stopped: ", *group->stop_reason());
  settle_saves();
  committed = commit.position;
  is_end_told = !end.empty();
  saver.start(capture(commit.position, std::move(end), commit.best), commit.checkpoints);
}

bool Trainer::Impl::flush_monitors() try {
  monitors->flush();
  return true;
} catch (const FileError& e) {
  saver.note_failure(e.what());
  return false;
}

void Trainer::Impl::settle_saves() {
  saver.wait();
  for (const BestTag& tag : saver.take_lost()) commit_point.tell_lost(tag);
  report_failed_saves();
}

// The next rows have it.
void Trainer::Impl::report_failed_saves() {
  if (saver.num_failed() == told_failures) return;
  told_failures = saver.num_failed();
  monitors->put_scalar("failed_saves", static_cast<double>(told_failures), ScalarClass::volatile_);
}

bool Trainer::Impl::save_position() {
  if (!position || commit_point.directories().empty()) return true;
  if (committed == position) {
    settle_saves();
    if (!saver.has_last_failed()) return true;
  }
  saver.cancel();
  settle_saves();
  if (!flush_monitors()) return false;
  saver.start(capture(*position, ""), {commit_point.directories()[0].path});
  saver.wait();
  return !saver.has_last_failed();
}

void Trainer::Impl::save_crash(const std::string& why) {
  if (!position || commit_point.directories().empty()) return;
  saver.write_crash(capture(*position, str("crash: ", why)));
}

// A StopTraining that is known came out of a hook: in before_run, before the step has changed anything.
bool Trainer::Impl::is_in_a_step(const TrainEnd& end) const {
  const bool is_thrown_by_step = end.reason == TrainEnd::stopped && !group->stop_reason() && !hooked->should_stop();
  return !position || loop.global_step != position_step || is_thrown_by_step;
}

void Trainer::Impl::commit_end(const TrainEnd& end) {
  const bool has_steps = position && position->phase != Phase::before_train;
  const bool is_half = is_in_a_step(end);
  if (has_steps && !commit_point.directories().empty() && (is_half || committed != position || !is_end_told))
    commit_point.request_checkpoint(commit_point.directories()[0].path);
  if (!commit_point.is_pending()) return;
  told_end = end.reason == TrainEnd::finished ? "finished" : str("stopped: ", end.message);
  commit(is_half ? Phase::after_run : position->phase, group->list().size());
}

// A step that failed half-way has left variables and data that belong to no step.
void Trainer::Impl::save_at_end(TrainEnd& end) {
  const auto phase = group->failed_phase();
  if (end.is_success() && !has_ended_before()) commit_end(end);
  if (end.reason == TrainEnd::interrupted && !save_position())
    end = {.reason = TrainEnd::failed,
           .message = str("interrupted by signal ", end.signal, ", and not saved: ", saver.last_failure())};
  if (end.reason == TrainEnd::failed && phase && *phase > Phase::before_train && *phase != Phase::before_run &&
      *phase != Phase::after_run)
    save_crash(end.message);
  settle_saves();
}

void Trainer::Impl::look_for_files() {
  if (commit_point.directories().empty()) return;
  const double now = internal::now_seconds();
  if (now - looked_at < kLookEvery) return;
  looked_at = now;
  const std::string& dir = commit_point.directories()[0].path;
  if (take_file(str(dir, "/save"))) commit_point.request_checkpoint(dir);
  if (!take_file(str(dir, "/stop"))) return;
  logger::info("[trainer] the file '", dir, "/stop' ends training.");
  has_stop_file = true;
  request_interrupt(SIGTERM);
}

}  // namespace martello
