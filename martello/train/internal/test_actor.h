#pragma once
#include <martello/train/trainer.h>

#include <functional>

// Parts of small trainings, for tests.
namespace martello::testing {

// Does something at one place of training.
struct Actor : Callback {
  using Act = std::function<void(Actor&)>;
  std::string name() const override { return "Actor"; }
  void before_run(RunContext& r) override { run = &r, do_it(in_before_run); }
  void after_run(RunContext& r) override { run = &r, do_it(in_after_run); }
  void setup_graph() override { do_it(in_setup); }
  void before_train() override { do_it(in_before_train); }
  void trigger_step() override { do_it(in_step); }
  void trigger() override { do_it(in_trigger); }
  void after_train() override { do_it(in_after_train); }
  void do_it(const Act& act) {
    if (act) act(*this);
  }
  TrainContext& see() const { return context(); }
  Act in_setup, in_before_train, in_before_run, in_after_run, in_step, in_trigger, in_after_train;
  RunContext* run = nullptr;
};

struct Counting : Trainer {
  using Trainer::Trainer;
  int steps = 0;
  void run_step() override { ++steps, hooked_sess().run({}); }
};

}  // namespace martello::testing
