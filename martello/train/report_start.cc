#include <martello/base/checked.h>
#include <martello/base/log.h>
#include <martello/runtime/environment.h>
#include <martello/tensor/device.h>
#include <martello/train/internal/report_start.h>

#include <optional>

namespace martello {
namespace {

// Samples of all towers together, by what `shape_of` says of each first input; none when one is not known.
template <class F>
std::optional<int64_t> global_batch(const TowerHandles& towers, F&& shape_of) {
  int64_t sum = 0;
  for (const TowerHandle& t : towers) {
    const std::optional<Shape> shape = t.inputs().empty() ? std::nullopt : shape_of(t.inputs()[0]);
    if (!shape || shape->rank() == 0 || (*shape)[0] < 0) return std::nullopt;
    sum = checked_add(sum, (*shape)[0]);
  }
  return towers.empty() ? std::nullopt : std::optional(sum);
}

std::optional<int64_t> static_batch(const TowerHandles& towers) {
  return global_batch(towers, [](const Tensor& t) { return std::optional(t.shape()); });
}

class ReportBatch : public Callback {
 public:
  explicit ReportBatch(TowerHandles towers) : towers_(std::move(towers)) {}
  std::string name() const override { return "ReportBatch"; }
  void before_run(RunContext& run) override {
    if (is_done_) [[likely]]
      return;
    is_done_ = true;
    const auto batch = global_batch(towers_, [&](const Tensor& t) {
      const HostTensor* fed = run.find_feed(t);
      return fed ? std::optional(fed->shape()) : std::optional(t.shape());
    });
    const int64_t steps = context().loop().steps_per_epoch;
    if (batch)
      logger::info("[trainer] global batch: ", *batch, " samples; samples per epoch: ", checked_mul(*batch, steps),
                   ".");
  }

 private:
  TowerHandles towers_;
  bool is_done_ = false;
};

}  // namespace

Ref<Callback> report_start(const TrainOptions& options, const std::vector<std::string>& devices,
                           const TowerHandles& towers) {
  EnvironmentOptions environment{.devices = devices, .threads = options.session.threads};
  for (std::string& d : environment.devices)
    if (d.empty()) d = Device{}.str();
  const auto batch = static_batch(towers);
  environment.global_batch = batch.value_or(0);
  environment.samples_per_epoch = checked_mul(environment.global_batch, options.steps_per_epoch.value_or(0));
  logger::info(environment_report(environment));
  return ReportBatch(batch ? TowerHandles() : towers);
}

}  // namespace martello
