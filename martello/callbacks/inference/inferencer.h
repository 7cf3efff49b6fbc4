#pragma once
#include <martello/loop/monitors.h>
#include <martello/tensor/host_tensor.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace martello {

namespace internal {
class InferencerHook;
}  // namespace internal

using Scalars = std::vector<std::pair<std::string, double>>;

// What an InferenceRunner does with tensors of its tower: takes their values datapoint by datapoint and makes scalars
// of them at the end.
//   struct Least : Inferencer {
//     std::vector<std::string> fetches() const override { return {"prob"}; }
//     void before_inference() override { least = 1; }
//     void on_fetches(const HostTensors& v) override { for (float p : v[0].data<float>()) least = std::min(least, p); }
//     Scalars after_inference() override { return {{"least_prob", least}}; }
//     float least = 1;
//   };
class Inferencer {
 public:
  Inferencer() = default;
  Inferencer(Inferencer&&) = default;
  Inferencer& operator=(Inferencer&&) = default;
  virtual ~Inferencer() = default;

  // Names of tensors in the tower.
  virtual std::vector<std::string> fetches() const = 0;
  // Before training, with the tensors of these names: throws for those it cannot use.
  virtual void check(const TensorList& /*tensors*/) const {}

  virtual void before_inference() {}
  virtual void on_fetches(const HostTensors& values) = 0;
  // Of all datapoints since before_inference(); goes to the monitors.
  virtual Scalars after_inference() = 0;
  // What is no scalar: images, texts. After after_inference(); `prefix` goes before every name.
  virtual void report(Monitors& /*monitors*/, const std::string& /*prefix*/) {}

  // Names of its scalars, as far as they are known before: callbacks that need one run after it, and no two inferencers
  // may have the same.
  virtual std::vector<std::string> provides() const { return {}; }
  virtual std::string name() const;  // the class's, unless overridden

 protected:
  // Of the datapoint that on_fetches() is given: the leading dimension of the tower's first input, 1 for a scalar.
  int64_t num_samples() const { return num_samples_; }

 private:
  friend class internal::InferencerHook;
  int64_t num_samples_ = 1;
};

}  // namespace martello
