#pragma once
#include <martello/base/owned.h>
#include <martello/base/ref.h>
#include <martello/loop/monitor.h>

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace martello {

// What callbacks put their results into: it remembers scalars and hands everything to the monitors. The last callback
// of a run; used by the training thread, from setup_graph to after_train. A name is UTF-8 without control characters
// and stays of the class with which it came first; `epoch_num`, `global_step` and `volatile` are taken.
class Monitors : public Callback {
 public:
  explicit Monitors(std::vector<Ref<Monitor>> monitors = {});
  Monitors(Monitors&&) noexcept;
  Monitors& operator=(Monitors&&) noexcept;
  ~Monitors() override;

  // NaN and infinities are values. Of two values in one step the history keeps the later one.
  void put_scalar(std::string_view name, double value, ScalarClass c = ScalarClass::run);
  // Says of which class a scalar will be, before the first one is put: in setup_graph.
  void declare(std::string_view name, ScalarClass c) const;
  // [H, W], [H, W, 1 | 3 | 4], [N, H, W] or [N, H, W, 1 | 3 | 4]; values in 0 ... 255, others are clipped.
  void put_image(std::string_view name, const HostTensor& image);
  void put_histogram(std::string_view name, const HostTensor& values);
  void put_text(std::string_view name, std::string_view text);
  // Anything else that TensorBoard reads; step and time are filled in.
  void put_event(Event event);

  // The newest value of a scalar; get_ throws NotFound with near misses.
  double get_latest(std::string_view name) const;
  std::optional<double> find_latest(std::string_view name) const;
  // (global_step, value), oldest first; empty when there is none.
  std::vector<std::pair<int64_t, double>> get_history(std::string_view name) const;
  // A statistic that decides something (a best checkpoint, a schedule) must be repeatable: FailedPrecondition for a
  // scalar of class volatile_. `who` asks.
  void check_repeatable(std::string_view name, std::string_view who) const;
  std::vector<std::string> scalar_names() const;  // in order of appearance

  // Of all monitors. One that fails does not keep the others from theirs; the first error is thrown at the end.
  void flush();
  const std::vector<Ref<Monitor>>& list() const { return monitors_; }

  void state(State& s) override;  // the history
  std::string name() const override { return "Monitors"; }
  std::string name_scope() const override { return ""; }
  std::string description() const override { return ""; }

 private:
  class History;
  std::vector<Ref<Monitor>> monitors_;
  Owned<History> history_;
};

}  // namespace martello
