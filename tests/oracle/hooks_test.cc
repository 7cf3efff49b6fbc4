// Replays what tensorpack did in 50 runs (hooks.txt) and compares the order of every hook with all counters.
#include <martello/base/error.h>
#include <martello/callbacks/wrappers.h>
#include <martello/graph/scopes.h>
#include <martello/ops/assign.h>
#include <martello/ops/initializers.h>
#include <martello/testing/recording_callback.h>
#include <martello/train/trainer.h>

#include <gtest/gtest.h>

#include <csignal>
#include <fstream>
#include <functional>
#include <map>

namespace martello {
namespace {

using testing::counters;
using testing::Events;
using testing::RecordingCallback;
using Reason = TrainEnd::Reason;

struct Scenario {
  std::string name;
  int64_t steps_per_epoch = 0, starting_epoch = 1, max_epoch = 0;
  std::string end;
  Events events;
};

std::vector<Scenario> read_scenarios() {
  std::ifstream file(MARTELLO_ORACLE);
  std::vector<Scenario> list;
  std::string line;
  while (std::getline(file, line)) {
    if (line.empty() || line[0] == '#') continue;
    if (line.starts_with("scenario ")) list.emplace_back().name = line.substr(9);
    else if (line.starts_with("end ")) list.back().end = line.substr(4);
    else if (!line.starts_with("loop ")) list.back().events.push_back(line);
    else {
      const auto words = split(line, ' ');
      list.back().steps_per_epoch = std::stoll(words[1]);
      list.back().starting_epoch = std::stoll(words[2]);
      list.back().max_epoch = std::stoll(words[3]);
    }
  }
  return list;
}

// Where we decided otherwise; docs/trainer-ends.md has the table for users.
struct Decision {
  const char* reason;
  Events inserted = {};            // before the first after_train, or at the very end when there is none
  std::optional<Reason> end = {};  // instead of what the recording's end means
  std::string last_counters = {};  // that after_train sees, where the step counts now
};

constexpr const char* kOthersHaveTheirTurn = "StopTraining lets the other callbacks have their turn of the same hook";
constexpr const char* kSignalsFinishTheStep =
    "a signal is no exception: the callback goes on, and the step is finished";
constexpr const char* kSignalsDoNotUnwind = "a signal is no exception: the callback goes on";
constexpr const char* kDataErrorsFail = "data that ends unasked is an error, never a success";
constexpr const char* kAfterTrainFails = "an error in after_train fails the run";
constexpr const char* kAfterTrainRuns =
    "after_train runs for all, whatever signal comes; training was finished by then";

const std::map<std::string, Decision> kDecisions = {
    {"StopTraining in A.before_train", {kOthersHaveTheirTurn, {"B.before_train e0 s-1 g0"}}},
    {"StopTraining in A.before_epoch", {kOthersHaveTheirTurn, {"B.before_epoch e1 s-1 g0"}}},
    {"StopTraining in A.before_run", {kOthersHaveTheirTurn, {"B.before_run e1 s1 g1"}}},
    {"StopTraining in A.after_run", {kOthersHaveTheirTurn, {"B.after_run e1 s1 g2"}}},
    {"StopTraining in A.trigger_step", {kOthersHaveTheirTurn, {"B.trigger_step e1 s1 g2"}}},
    {"StopTraining in A.after_epoch", {kOthersHaveTheirTurn, {"B.after_epoch e1 s2 g3"}}},
    {"StopTraining in A.trigger_epoch", {kOthersHaveTheirTurn, {"B.trigger_epoch e1 s2 g3", "B.trigger e1 s2 g3"}}},
    {"StopTraining in A.trigger", {kOthersHaveTheirTurn, {"B.trigger_epoch e1 s2 g3", "B.trigger e1 s2 g3"}}},
    {"RuntimeError in A.after_train", {kAfterTrainFails, {}, Reason::failed}},
    {"KeyboardInterrupt in A.before_run",
     {kSignalsFinishTheStep,
      {"B.before_run e1 s1 g1", "A.after_run e1 s1 g2", "B.after_run e1 s1 g2", "A.trigger_step e1 s1 g2",
       "B.trigger_step e1 s1 g2"},
      {},
      " e1 s1 g2"}},
    {"KeyboardInterrupt in A.after_run",
     {kSignalsFinishTheStep, {"B.after_run e1 s1 g2", "A.trigger_step e1 s1 g2", "B.trigger_step e1 s1 g2"}}},
    {"KeyboardInterrupt in A.trigger_step", {kSignalsFinishTheStep, {"B.trigger_step e1 s1 g2"}}},
    {"KeyboardInterrupt in A.trigger_epoch", {kSignalsDoNotUnwind, {"A.trigger e1 s2 g3"}}},
    {"KeyboardInterrupt in A.after_train", {kAfterTrainRuns, {"B.after_train e2 s2 g6"}, Reason::finished}},
    {"OutOfRange in A.before_train", {kDataErrorsFail, {}, Reason::failed}},
    {"OutOfRange in A.before_epoch", {kDataErrorsFail, {}, Reason::failed}},
    {"OutOfRange in A.before_run", {kDataErrorsFail, {}, Reason::failed}},
    {"OutOfRange in A.after_run", {kDataErrorsFail, {}, Reason::failed}},
    {"OutOfRange in A.trigger_step", {kDataErrorsFail, {}, Reason::failed}},
    {"OutOfRange in A.after_epoch", {kDataErrorsFail, {}, Reason::failed}},
    {"OutOfRange in A.trigger_epoch", {kDataErrorsFail, {}, Reason::failed}},
    {"OutOfRange in A.trigger", {kDataErrorsFail, {}, Reason::failed}},
    {"OutOfRange in A.after_train", {kAfterTrainFails, {}, Reason::failed}},
};

Events expected_events(const Scenario& s) {
  Events events = s.events;
  const auto found = kDecisions.find(s.name);
  if (found == kDecisions.end()) return events;
  const Events& inserted = found->second.inserted;
  const bool is_in_after_train = !inserted.empty() && inserted[0].find("after_train") != std::string::npos;
  const auto place =
      is_in_after_train ? events.end() : std::find_if(events.begin(), events.end(), [](const std::string& e) {
        return e.starts_with("A.after_train");
      });
  events.insert(place, inserted.begin(), inserted.end());
  if (found->second.last_counters.empty()) return events;
  for (std::string& e : events)
    if (const size_t at = e.find(".after_train"); at != std::string::npos)
      e = e.substr(0, at) + ".after_train" + found->second.last_counters;
  return events;
}

Reason expected_end(const Scenario& s) {
  const auto found = kDecisions.find(s.name);
  if (found != kDecisions.end() && found->second.end) return *found->second.end;
  if (s.end == "raised RuntimeError") return Reason::failed;
  if (s.end == "raised KeyboardInterrupt") return Reason::interrupted;
  return s.name.starts_with("StopTraining") && !s.name.ends_with("after_train") ? Reason::stopped : Reason::finished;
}

std::function<void()> fault_of(const std::string& what) {
  if (what == "StopTraining") return [] { throw StopTraining("x"); };
  if (what == "RuntimeError") return [] { throw std::runtime_error("x"); };
  if (what == "KeyboardInterrupt") return [] { std::raise(SIGINT); };
  return [] { throw FailedPrecondition("[queue] is closed."); };
}

using Step = std::function<void(Session&, HookedSession&, Operation)>;

class Replay : public Trainer {
 public:
  Replay(Graph graph, std::shared_ptr<Events> events, Step step)
      : Trainer(std::move(graph)), events_(std::move(events)), step_(std::move(step)) {}

 protected:
  void run_step() override {
    events_->push_back("run_step" + counters(loop()));
    step_(sess(), hooked_sess(), train_op);
  }

 private:
  std::shared_ptr<Events> events_;
  Step step_;
};

Step step_of(const std::string& scenario) {
  if (scenario == "no run in the step") return [](Session&, HookedSession&, Operation) {};
  if (scenario == "two hooked runs a step")
    return [](Session&, HookedSession& hooked, Operation op) { hooked.run(op), hooked.run(op); };
  if (scenario == "one plain and one hooked run a step")
    return [](Session& plain, HookedSession& hooked, Operation op) { plain.run(op), hooked.run(op); };
  return [](Session&, HookedSession& hooked, Operation op) { hooked.run(op); };
}

CallbackList callbacks_of(const std::string& scenario, const std::shared_ptr<Events>& events) {
  const auto recorder = [&](const char* name) { return RecordingCallback(name, events); };
  if (scenario == "two callbacks") return {recorder("A"), recorder("B")};
  if (const size_t in = scenario.find(" in A."); in != std::string::npos) {
    const std::string hook = scenario.substr(in + 6);
    const bool is_of_step = hook == "before_run" || hook == "after_run" || hook == "trigger_step";
    return {recorder("A").at(hook, is_of_step ? 2 : 1, fault_of(scenario.substr(0, in))), recorder("B")};
  }
  const std::map<std::string, Every> triggers = {
      {"PeriodicTrigger every 2 steps", {.steps = 2}},
      {"PeriodicTrigger every 2 epochs", {.epochs = 2}},
      {"PeriodicTrigger every 2 steps and 1 epoch, before_train", {.steps = 2, .epochs = 1, .before_train = true}}};
  if (const auto t = triggers.find(scenario); t != triggers.end()) return {PeriodicTrigger(recorder("A"), t->second)};
  if (scenario == "EnableCallbackIf odd epochs")
    return {EnableCallbackIf(recorder("A"), [](const TrainContext& c) { return c.loop().epoch_num % 2 == 1; })};
  if (scenario == "PeriodicCallback every 2 steps") return {PeriodicCallback(recorder("A"), {.steps = 2})};
  if (scenario == "PeriodicCallback every 2 epochs") return {PeriodicCallback(recorder("A"), {.epochs = 2})};
  return {recorder("A")};
}

struct Replayed {
  Events events;
  TrainEnd end;
};

Replayed replay(const Scenario& s) {
  const GraphScope graph;
  const auto x = get_variable("x", {.initializer = zeros()});
  const auto events = make<Events>();
  Replay trainer(graph.graph(), events, step_of(s.name));
  trainer.train_op = assign_add(x, 1);
  TrainEnd end = trainer.train({.callbacks = callbacks_of(s.name, events),
                                .steps_per_epoch = s.steps_per_epoch,
                                .starting_epoch = s.starting_epoch,
                                .max_epoch = s.max_epoch,
                                .handle_signals = true});
  return {*events, end};
}

class Oracle : public ::testing::TestWithParam<Scenario> {};

TEST_P(Oracle, hooks_run_in_the_recorded_order) {
  const Replayed ours = replay(GetParam());
  EXPECT_EQ(ours.events, expected_events(GetParam()));
  EXPECT_EQ(to_string(ours.end.reason), to_string(expected_end(GetParam()))) << ours.end.message;
}

std::string test_name(const ::testing::TestParamInfo<Scenario>& info) {
  std::string name = info.param.name;
  for (char& c : name)
    if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
  return name;
}

INSTANTIATE_TEST_SUITE_P(Tensorpack, Oracle, ::testing::ValuesIn(read_scenarios()), test_name);

TEST(OracleFile, holds_50_scenarios_and_every_decision_is_about_one) {
  std::map<std::string, int> names;
  for (const Scenario& s : read_scenarios()) ++names[s.name];
  EXPECT_EQ(names.size(), 50u);
  for (const auto& [name, decision] : kDecisions) EXPECT_EQ(names.count(name), 1u) << name << ": " << decision.reason;
}

}  // namespace
}  // namespace martello
