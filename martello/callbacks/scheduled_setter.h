#pragma once
#include <martello/callbacks/hyper_param_setter.h>

#include <vector>

namespace martello {

struct SchedulePoint {
  double at = 0;  // a whole number: the epoch, or with .step_based the global_step, after which the value holds
  double value = 0;
};
enum class Interp : uint8_t { none, linear };
struct ScheduleOptions {
  Interp interp = Interp::none;  // linear: also between two points, at every trigger; never beyond the last
  bool step_based = false;
  bool set_at_beginning = true;  // a run that starts in the middle takes what the schedule would have set by then
};

// {{0, 0.1}, {30, 0.01}}: 0.1 before the first epoch, 0.01 once epoch 30 is done. A schedule that begins after the last
// epoch is refused by setup_graph; one of steps by before_train, as a resume knows its global_step only then.
class ScheduledHyperParamSetter : public HyperParamSetter {
 public:
  ScheduledHyperParamSetter(HyperParamRef param, std::vector<SchedulePoint> schedule, ScheduleOptions options = {},
                            SourceLine line = SourceLine::current());
  void setup_graph() override;
  void before_train() override;
  void trigger_step() override;
  void trigger_epoch() override;
  std::string name() const override { return "ScheduledHyperParamSetter"; }
  std::string description() const override;

 protected:
  std::optional<double> value_to_set() override { return value_at(point()); }

 private:
  int64_t point() const { return options_.step_based ? global_step() : epoch_num(); }
  std::optional<double> value_at(int64_t point) const;     // what is set there
  std::optional<double> value_until(int64_t point) const;  // what was set last
  void check_is_reached(int64_t last_point, std::string_view what) const;
  void check_value_at_beginning();

  std::vector<SchedulePoint> schedule_;  // sorted
  ScheduleOptions options_;
};

}  // namespace martello
