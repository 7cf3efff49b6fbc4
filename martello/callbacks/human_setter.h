#pragma once
#include <martello/callbacks/hyper_param_setter.h>

namespace martello {

// Lets people set a parameter while training runs: a file in the logger's directory with lines `name:value`, read on
// every trigger. No file, nothing happens; a file that cannot be read, or without the name, is warned about. What was
// read is noted in `<file>.journal` before it is used, and a resumed run takes it from there again.
//   echo learning_rate:0.01 > train_log/mnist/hyper.txt
class HumanHyperParamSetter : public HyperParamSetter {
 public:
  explicit HumanHyperParamSetter(HyperParamRef param, std::string file_name = "hyper.txt");
  void setup_graph() override;
  void trigger() override;
  void state(State& s) override;
  std::string name() const override { return "HumanHyperParamSetter"; }
  std::string description() const override;

 protected:
  std::optional<double> value_to_set() override;

 private:
  std::string journal() const { return path_ + ".journal"; }
  std::optional<double> typed_value() const;
  // Of an earlier run of this training; the outer one is empty where it had not come so far.
  std::optional<std::optional<double>> noted_value() const;
  void note(std::optional<double> value);

  std::string file_name_, path_;
  std::string pending_;  // lines of before_train: only what comes later tells whether the run is a resumed one
  bool is_resumed_ = false, is_begun_ = false;
};

}  // namespace martello
