#pragma once
#include <martello/base/owned.h>
#include <martello/loop/callback.h>

#include <string>
#include <string_view>
#include <vector>

namespace martello {

// On every trigger runs a command with the newest values of scalars, and waits for it; a command that fails is an error
// in the log. After a resume a command may run once more.
//   SendStat("curl -d 'error={validation_error:.4f}' http://localhost:8080", {"validation_error"})
class SendStat : public Callback {
 public:
  SendStat(std::string_view command, std::vector<std::string> names);
  SendStat(SendStat&&) noexcept;
  ~SendStat() override;
  void trigger() override;
  std::vector<std::string> needs() const override;
  std::string name() const override { return "SendStat"; }

 private:
  struct Impl;
  Owned<Impl> impl_;
};

}  // namespace martello
