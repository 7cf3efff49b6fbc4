// Callbacks that read statistics of others do the same in whatever order they are given.
#include <martello/base/internal/test_dir.h>
#include <martello/base/internal/test_text.h>
#include <martello/callbacks/early_stopping.h>
#include <martello/callbacks/hyper_param_setter.h>
#include <martello/callbacks/send_stat.h>
#include <martello/callbacks/wrappers.h>
#include <martello/loop/monitors.h>
#include <martello/train/single_cost_trainer.h>

#include <algorithm>
#include <array>

namespace martello {
namespace {

using testing::error_of;
using testing::Log;
using testing::TestDir;

struct Outcome {
  std::vector<double> rates;  // in every epoch
  std::string message, sent;
  bool operator==(const Outcome&) const = default;
};

struct Rates {
  double rate = 1;
};

CallbackFactory error_of_epochs() {
  return CallbackFactory({.trigger =
                              [](TrainContext& c) {
                                constexpr std::array<double, 6> kErrors = {5, 4, 4, 4, 4, 4};
                                c.monitors().put_scalar("error", kErrors[static_cast<size_t>(c.loop().epoch_num - 1)]);
                              },
                          .provides = {"error"}});
}

// Twice the error, for one who needs a statistic that itself needs one.
CallbackFactory twice_the_error() {
  return CallbackFactory(
      {.trigger = [](TrainContext& c) { c.monitors().put_scalar("twice", 2 * c.monitors().get_latest("error")); },
       .needs = {"error"},
       .provides = {"twice"}});
}

Outcome train(const std::vector<int>& order) {
  const TestDir dir;
  Outcome outcome;
  const auto rates = make<Rates>();
  const CallbackList given = {
      error_of_epochs(), twice_the_error(), EarlyStopping("error", {.patience = 3}),
      StatMonitorParamSetter(ObjAttrParam(rates, &Rates::rate, "rate"), "twice", [](double old) { return old / 2; },
                             {.last_k = 2}),
      PeriodicTrigger(SendStat("echo {twice} >> " + dir.file("sent"), {"twice"}), {.epochs = 2})};
  CallbackList list;
  for (int i : order) list.push_back(given[static_cast<size_t>(i)]);
  list.push_back(CallbackFactory(
      {.trigger = [&](TrainContext&) { outcome.rates.push_back(rates->rate); }, .needs = {"error", "twice"}}));
  NoOpTrainer trainer;
  const TrainEnd end = trainer.train({.callbacks = list, .steps_per_epoch = 2, .max_epoch = 6});
  outcome.message = end.str();
  outcome.sent = dir.read("sent");
  return outcome;
}

TEST(callback_order, does_not_matter) {
  const Log log;
  std::vector<int> order = {0, 1, 2, 3, 4};
  const Outcome first = train(order);
  EXPECT_EQ(first.sent, "8\n8\n");
  EXPECT_CONTAINS(first.message, "stopped: 'error' did not get better than 4, of global_step 4, in 3 values");
  EXPECT_EQ(first.rates, (std::vector<double>{1, 1, 0.5, 0.5, 0.25}));
  while (std::next_permutation(order.begin(), order.end()))
    EXPECT_EQ(train(order), first) << order[0] << order[1] << order[2] << order[3] << order[4];
}

TEST(callback_order, refuses_what_nobody_provides_before_the_first_step) {
  const Log log;
  NoOpTrainer trainer;
  const std::string text = error_of([&] {
    (void)trainer.train(
        {.callbacks = {EarlyStopping("eror"), error_of_epochs()}, .steps_per_epoch = 1, .max_epoch = 1});
  });
  for (const char* part : {"'EarlyStopping'", "'eror'", "Did you mean 'error'?"}) EXPECT_CONTAINS(text, part);
  EXPECT_EQ(trainer.loop().global_step, 0);
}

}  // namespace
}  // namespace martello
