#pragma once
#include <martello/base/owned.h>
#include <martello/loop/monitor.h>

#include <optional>
#include <string>
#include <vector>

namespace martello {

struct ScalarPrinterOptions {
  bool enable_step = false;  // after each step; those of the last one come with the epoch
  bool enable_epoch = true;
  // Regular expressions, looked for anywhere in a name. Printed is what one of the whitelist finds (no list: anything)
  // and none of the blacklist.
  std::optional<std::vector<std::string>> whitelist = {};
  std::vector<std::string> blacklist = {};
};
// Writes scalars to the log, sorted by name, with five digits.
class ScalarPrinter : public Monitor {
 public:
  explicit ScalarPrinter(const ScalarPrinterOptions& options = {});
  ScalarPrinter(ScalarPrinter&&) noexcept;
  ~ScalarPrinter() override;
  void before_train() override;
  void trigger_step() override;
  void trigger() override;
  void process_scalar(std::string_view name, double value) override;
  std::string name() const override { return "ScalarPrinter"; }

 private:
  struct Impl;
  void print();
  Owned<Impl> impl_;
};

// Runs a command whenever all of its scalars have new values, and waits for it.
//   SendMonitorData("curl -d 'e={validation_error:.4f}' http://localhost:8080", {"validation_error"})
class SendMonitorData : public Monitor {
 public:
  SendMonitorData(std::string_view command, std::vector<std::string> names);
  SendMonitorData(SendMonitorData&&) noexcept;
  ~SendMonitorData() override;
  void trigger_step() override;
  void trigger() override;
  void process_scalar(std::string_view name, double value) override;
  std::string name() const override { return "SendMonitorData"; }

 private:
  struct Impl;
  void send();
  Owned<Impl> impl_;
};

}  // namespace martello
