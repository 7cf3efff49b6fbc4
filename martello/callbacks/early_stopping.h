#pragma once
#include <martello/loop/callback.h>

#include <cstdint>
#include <string>
#include <vector>

namespace martello {

struct EarlyStoppingOptions {
  int64_t patience = 3;  // values in a row that are no better than the best
  double threshold = 0;  // better means by more than this
  bool reverse = false;  // better means larger
};
// Ends training as a success when a statistic has stopped getting better. NaN is never better.
//   EarlyStopping("validation_error", {.patience = 5})
class EarlyStopping : public Callback {
 public:
  explicit EarlyStopping(std::string stat, EarlyStoppingOptions options = {});
  void setup_graph() override;
  void trigger() override;
  void state(State& s) override;
  std::vector<std::string> needs() const override { return {stat_}; }
  std::string name() const override { return "EarlyStopping"; }
  std::string description() const override;

 private:
  bool is_better(double value) const;

  std::string stat_;
  EarlyStoppingOptions options_;
  double best_ = 0;
  int64_t best_step_ = -1;  // below 0: there is no best yet
  int64_t last_step_ = -1, num_worse_ = 0;
};

}  // namespace martello
