#include <martello/callbacks/send_stat.h>

#include <martello/base/error.h>
#include <martello/callbacks/monitors/internal/command_template.h>
#include <martello/loop/monitors.h>

namespace martello {

struct SendStat::Impl {
  std::vector<std::string> names;
  internal::CommandTemplate command;
};

SendStat::SendStat(std::string_view command, std::vector<std::string> names) {
  MARTELLO_CHECK(!names.empty(), "[SendStat] has no names of scalars to send.");
  internal::CommandTemplate parsed(command, names, "SendStat");
  impl_ = Owned(new Impl{std::move(names), std::move(parsed)});
}
SendStat::SendStat(SendStat&&) noexcept = default;
SendStat::~SendStat() = default;

std::vector<std::string> SendStat::needs() const { return impl_->names; }

void SendStat::trigger() {
  std::vector<double> values;
  for (const std::string& n : impl_->names) values.push_back(monitors().get_latest(n));
  internal::run_command(impl_->command.with(values), name());
}

}  // namespace martello
