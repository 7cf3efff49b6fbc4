#pragma once
#include <martello/callbacks/hyper_param.h>
#include <martello/loop/callback.h>

#include <cstdint>
#include <optional>

namespace martello {

// Asks for a value before training and on every trigger, and sets it. The base of all setters; own ones say the value:
//   struct Halve : HyperParamSetter {
//     using HyperParamSetter::HyperParamSetter;
//     std::optional<double> value_to_set() override { return current_value() / 2; }
//   };
class HyperParamSetter : public Callback {
 public:
  explicit HyperParamSetter(HyperParamRef param);
  void setup_graph() override;
  void before_train() override { set_param(); }
  void trigger() override { set_param(); }
  void state(State& s) override;
  std::string description() const override;

 protected:
  virtual std::optional<double> value_to_set() = 0;  // none: it stays as it is
  double current_value() const { return param_->get_value(context()); }
  HyperParam& param() const { return *param_; }
  // A change is logged, at most once per epoch.
  void set_param();
  void set_param(double value);

 private:
  void log_change(double value) const;

  Ref<HyperParam> param_;
  bool has_set_ = false;
  double last_value_ = 0;
  int64_t last_epoch_ = -1;
};

// What `f` makes of the epoch's number and the present value; none leaves it. A resume does not apply it again to the
// epoch after which the run was saved.
//   HyperParamSetterWithFunc("learning_rate", [](int64_t, double old) { return old * 0.97; })
class HyperParamSetterWithFunc : public HyperParamSetter {
 public:
  using Function = std::function<std::optional<double>(int64_t epoch, double old)>;
  HyperParamSetterWithFunc(HyperParamRef param, Function f);
  void before_train() override;
  void state(State& s) override;
  std::string name() const override { return "HyperParamSetterWithFunc"; }

 protected:
  std::optional<double> value_to_set() override;

 private:
  Function function_;
  int64_t applied_epoch_ = INT64_MIN;
};

struct StatMonitorOptions {
  double threshold = 0;  // how much better the statistic must get
  int64_t last_k = 5;    // within so many values
  bool reverse = false;  // better means larger
};
// Sets `change(old)` when a statistic has not become better than the first of its last k values by the threshold; then
// it forgets them and begins again.
//   StatMonitorParamSetter("learning_rate", "val_error", [](double old) { return old * 0.2; }, {.last_k = 10})
class StatMonitorParamSetter : public HyperParamSetter {
 public:
  using Change = std::function<double(double old)>;
  StatMonitorParamSetter(HyperParamRef param, std::string stat, Change change, StatMonitorOptions options = {});
  void setup_graph() override;
  void before_train() override {}
  void state(State& s) override;
  std::vector<std::string> needs() const override { return {stat_}; }
  std::string name() const override { return "StatMonitorParamSetter"; }
  std::string description() const override;

 protected:
  std::optional<double> value_to_set() override;

 private:
  bool has_new_value();
  bool has_improved() const;

  std::string stat_;
  Change change_;
  StatMonitorOptions options_;
  std::vector<int64_t> steps_;
  std::vector<double> values_;
};

}  // namespace martello
