#pragma once
#include <martello/base/owned.h>
#include <martello/runtime/session.h>

#include <string>
#include <vector>

namespace martello {

// One hooked run, as one hook sees it. fetch() and feed() append to buffers that live across steps: no allocation once
// the same hooks ask for the same things again.
class RunContext {
 public:
  // In before_run. The number that value() takes in after_run, counted per hook.
  int fetch(Tensor t, SourceLine line = SourceLine::current());
  int fetch(Operation o, SourceLine line = SourceLine::current());
  void feed(Tensor t, const HostTensor& value);  // two hooks, or a hook and the caller, feeding one tensor: an error
  // What this run feeds to a tensor so far, by the caller or by a hook; null when nothing.
  const HostTensor* find_feed(Tensor t) const;
  void trace(bool on = true);            // any hook that asks makes the run traced
  void timeout_seconds(double seconds);  // the longest that any hook asks for holds
  // In either. Takes effect after this run: HookedSession::should_stop().
  void request_stop();
  // In after_run.
  const HostTensor& value(int i = 0) const;
  const RunTrace& run_trace() const;
  bool was_skipped() const;  // the run wrote nothing because a gradient was not finite
  // What the caller of the run asked for.
  const Fetches& original_fetches() const;
  const Feeds& original_feeds() const;
  Session& sess() const;  // plain, not hooked

 private:
  friend class HookedSession;
  struct State;
  explicit RunContext(State& state) : state_(state) {}
  State& state_;
};

// What acts around hooked runs. Callbacks of a trainer are hooks.
class RunHook {
 public:
  virtual ~RunHook() = default;
  virtual void before_run(RunContext&) {}
  virtual void after_run(RunContext&) {}
  virtual std::string hook_name() const;
};

// A session whose runs let hooks add fetches and feeds: one underlying run evaluates the caller's fetches and all
// hooks' together, and only the caller's values are returned. Order: before_run of each hook, the run, after_run of
// each hook.
class HookedSession {
 public:
  HookedSession(Session& session, std::vector<RunHook*> hooks);
  ~HookedSession();
  HookedSession(HookedSession&&) noexcept;

  // Refused once a stop was requested.
  HostTensors run(const Fetches& fetches, const Feeds& feeds = {});
  // The same without giving values back: a step of training allocates nothing.
  void execute(const Fetches& fetches, const Feeds& feeds = {});
  bool should_stop() const;

 private:
  Owned<RunContext::State> state_;
};

}  // namespace martello
