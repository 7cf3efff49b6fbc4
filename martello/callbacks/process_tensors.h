#pragma once
#include <martello/loop/callback.h>
#include <martello/tensor/host_tensor.h>

#include <functional>
#include <string>
#include <vector>

namespace martello {

// Fetches tensors with every hooked run and gives their values to a function, in the order of the names. A tensor of
// the model is found by its name in the first training tower.
//   ProcessTensors({"cost"}, [&](const HostTensors& v) { losses.push_back(v[0].scalar<float>()); })
class ProcessTensors : public Callback {
 public:
  using Function = std::function<void(const HostTensors& values)>;
  ProcessTensors(std::vector<std::string> names, Function process, SourceLine line = SourceLine::current());
  void setup_graph() override;
  void before_run(RunContext& run) override;
  void after_run(RunContext& run) override;
  std::string name() const override { return "ProcessTensors"; }
  // Tensors that are only written or printed are free.
  std::string description() const override { return function_ ? str(name(), "(", join(names_), ")") : name(); }

 protected:
  ProcessTensors(std::vector<std::string> names, SourceLine line) : names_(std::move(names)), line_(line) {}
  virtual void process(const HostTensors& values) { function_(values); }
  const std::vector<std::string>& names() const { return names_; }
  void check_names() const;

 private:
  std::vector<std::string> names_;
  SourceLine line_;
  Function function_;
  std::vector<Tensor> tensors_;
  HostTensors values_;
  HostTensor nothing_;  // what values_ hold between runs, so that the runtime may use its memory again
};

// Logs the values of tensors in every hooked run: to look for a fault, for it is slow.
class TensorPrinter : public ProcessTensors {
 public:
  explicit TensorPrinter(std::vector<std::string> names, SourceLine line = SourceLine::current());
  void setup_graph() override;
  std::string name() const override { return "TensorPrinter"; }

 protected:
  void process(const HostTensors& values) override;
};

}  // namespace martello
