#include <martello/base/error.h>
#include <martello/base/log.h>
#include <martello/data/interrupt.h>
#include <martello/loop/interrupt.h>
#include <martello/train/internal/trainer_impl.h>

#include <csignal>

namespace martello {
namespace {

std::string where(const TrainLoop& loop) {
  return str("in epoch ", loop.epoch_num, ", step ", loop.local_step, ", global_step ", loop.global_step);
}

// Of an error that cannot be given context lines.
std::string foreign_message(std::string_view what, const CallbackGroup& group, const TrainLoop& loop) {
  const std::string turn = group.failed_turn();
  return str(what, turn.empty() ? "" : "\n  ", turn, "\n  ", where(loop));
}

TrainEnd failed_end(std::string message) {
  return {.reason = TrainEnd::failed, .message = std::move(message), .error = std::current_exception()};
}

void log_end(const TrainEnd& end) {
  if (end.reason == TrainEnd::failed) logger::error("Training failed: ", end.message);
  else logger::info("Training has ", end.str(), ".");
}

TrainEnd interrupted_end() {
  const int signal = interrupt_signal() != 0 ? interrupt_signal() : SIGTERM;  // a file asked for it
  return {.reason = TrainEnd::interrupted, .message = str("signal ", signal), .signal = signal};
}

}  // namespace

// All of training. Returns when it is over, for whatever reason but an error.
void Trainer::run_epochs() {
  Impl& t = *impl_;
  if (!t.start()) return;
  t.step_counter->read(*t.session);  // callbacks may have changed it
  for (LoopPosition from = t.next_of(*t.position); from.epoch_num <= t.loop.max_epoch;
       from = {from.epoch_num + 1, 0, Phase::before_epoch, 0}) {
    if (t.hooked->should_stop()) return;
    if (!run_epoch(from)) return;
  }
}

// From the beginning of an epoch, or from where a resumed one goes on.
bool Trainer::run_epoch(const LoopPosition& from) {
  Impl& t = *impl_;
  t.loop.epoch_num = from.epoch_num;
  t.steps_done = from.steps_done;
  const auto first = [&](Phase phase) { return from.phase == phase ? from.next_callback : 0; };
  if (from.phase == Phase::before_epoch) {
    logger::info("Start epoch ", from.epoch_num, " ...");
    if (!t.run_phase(Phase::before_epoch, from.next_callback)) return false;
  }
  if (from.phase == Phase::trigger_step && from.next_callback < t.group->list().size()) {
    t.commit(Phase::trigger_step, t.group->trigger_step(from.next_callback));
    if (t.is_ending()) return false;
  }
  t.account.begin_epoch();
  if (from.phase <= Phase::trigger_step && !run_steps(from.steps_done)) return false;
  if (from.phase <= Phase::after_epoch) {
    if (!t.run_phase(Phase::after_epoch, first(Phase::after_epoch))) return false;
    t.report_epoch(t.account.end_epoch());
  }
  return t.run_phase(Phase::trigger_epoch, first(Phase::trigger_epoch));
}

bool Trainer::run_steps(int64_t first) {
  Impl& t = *impl_;
  for (int64_t i = first; i < t.loop.steps_per_epoch; ++i) {
    if (t.hooked->should_stop()) return false;
    t.loop.local_step = i;
    t.account.begin_step();
    const int64_t runs = t.step_counter->num_runs();
    run_step();
    t.check_runs_of_step(t.step_counter->num_runs() - runs, makes_one_run_per_step());
    t.steps_done = i + 1;
    const size_t done = t.group->trigger_step();
    t.look_for_files();
    t.commit(Phase::trigger_step, done);
    if (t.is_ending()) return false;
  }
  return true;
}

TrainEnd Trainer::main_loop() {
  Impl& t = *impl_;
  t.loop.epoch_num = t.loop.starting_epoch - 1;
  t.step_counter->read(*t.session);
  TrainEnd end;
  std::exception_ptr wrong_use;
  try {
    if (t.has_ended_before()) end = {.reason = TrainEnd::stopped, .message = t.resumed->info.end};
    else run_epochs(), end = t.end_of_loop();
  } catch (const StopTraining& stop) {
    end = {.reason = TrainEnd::stopped, .message = stop.what()};
  } catch (const Interrupted& e) {  // a wait for data
    end = interrupt_signal() != 0 ? interrupted_end() : failed_end(e.what());
  } catch (const WrongUse& e) {
    wrong_use = std::current_exception();
    end = failed_end(e.what());
  } catch (Error& e) {
    e.add_context(where(t.loop));
    end = failed_end(e.what());
  } catch (const std::exception& e) {
    end = failed_end(foreign_message(e.what(), *t.group, t.loop));
  } catch (...) {
    end = failed_end(foreign_message("something that is no std::exception was thrown", *t.group, t.loop));
  }
  if (!wrong_use) log_end(end);  // whoever catches it says so
  finish(end);
  if (wrong_use) std::rethrow_exception(wrong_use);
  return end;
}

void Trainer::finish(TrainEnd& end) {
  Impl& t = *impl_;
  try {
    t.save_at_end(end);
  } catch (const std::exception& e) {
    if (end.reason == TrainEnd::failed) logger::error("The state at the error could not be saved: ", e.what());
    else end = failed_end(e.what());
  }
  t.commit_point.cancel();
  const std::exception_ptr error = t.group->after_train();
  t.saver.close();
  end.failed_saves = t.saver.num_failed();
  if (!error || end.reason == TrainEnd::failed) return;
  try {
    std::rethrow_exception(error);
  } catch (const std::exception& e) {
    end = failed_end(e.what());
  } catch (...) {
    end = failed_end("something that is no std::exception was thrown in after_train");
  }
}

void Trainer::Impl::report_epoch(const TimeReport& time) {
  logger::info("Epoch ", loop.epoch_num, " (global_step ", loop.global_step,
               ") finished, time: ", human_time(time.wall_seconds), ".");
  group->report_slow_steps(time.wall_seconds);
  if (loop.steps_per_epoch == 0) return;
  logger::info("Time of epoch ", loop.epoch_num, ": ", time.verdict(), ".");
  for (const TimePart part : {TimePart::input, TimePart::compute, TimePart::callbacks, TimePart::monitors})
    monitors->put_scalar(str("time/", part), time.share(part), ScalarClass::volatile_);
}

bool Trainer::Impl::run_phase(Phase phase, size_t first) {
  commit(phase, group->run(
                    phase, [this] { return is_interrupted(); }, first));
  return !is_ending();
}

void Trainer::Impl::commit(Phase phase, size_t next_callback) {
  position = LoopPosition{loop.epoch_num, steps_done, phase, next_callback};
  position_step = loop.global_step;
  if (next_callback < group->list().size()) return;
  if (commit_point.is_pending()) {
    saver.check_failures();
    if (!flush_monitors()) return commit_point.lose();
  }
  commit_point.commit(*position);
}

bool Trainer::Impl::is_interrupted() const { return has_stop_file || (handles_signals && interrupt_signal() != 0); }

void Trainer::Impl::check_runs_of_step(int64_t runs, bool expects_one) {
  if (runs == 1 || !expects_one || has_warned_of_runs) [[likely]]
    return;
  has_warned_of_runs = true;
  logger::warn("[trainer] step ", loop.local_step, " of epoch ", loop.epoch_num, " made ", runs,
               " hooked runs, not 1. Each takes a datapoint and advances global_step; use sess() for others.");
}

TrainEnd Trainer::Impl::end_of_loop() const {
  if (group->stop_reason()) return {.reason = TrainEnd::stopped, .message = *group->stop_reason()};
  if (is_interrupted()) return interrupted_end();
  if (hooked->should_stop()) return {.reason = TrainEnd::stopped, .message = "a hook requested it"};
  return {};
}

}  // namespace martello
