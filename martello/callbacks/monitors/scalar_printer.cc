#include <martello/base/error.h>
#include <martello/base/log.h>
#include <martello/base/name_pattern.h>
#include <martello/callbacks/monitors/internal/command_template.h>
#include <martello/callbacks/monitors/internal/pending_scalars.h>
#include <martello/callbacks/monitors/scalar_printer.h>

#include <algorithm>
#include <cstdio>

namespace martello {
namespace {

std::vector<NamePattern> patterns(const std::vector<std::string>& texts) {
  std::vector<NamePattern> list;
  for (const std::string& text : texts) list.emplace_back(text, "ScalarPrinter");
  return list;
}

bool finds_one(const std::vector<NamePattern>& list, const std::string& name) {
  return std::any_of(list.begin(), list.end(), [&](const NamePattern& p) { return p.is_found_in(name); });
}

}  // namespace

struct ScalarPrinter::Impl {
  bool enable_step, enable_epoch;
  std::optional<std::vector<NamePattern>> whitelist = {};
  std::vector<NamePattern> blacklist = {};
  internal::PendingScalars scalars = {};

  bool shows(const std::string& name) const {
    return (!whitelist || finds_one(*whitelist, name)) && !finds_one(blacklist, name);
  }
};

ScalarPrinter::ScalarPrinter(const ScalarPrinterOptions& options)
    : impl_(new Impl{options.enable_step, options.enable_epoch}) {
  if (options.whitelist) impl_->whitelist = patterns(*options.whitelist);
  impl_->blacklist = patterns(options.blacklist);
}
ScalarPrinter::ScalarPrinter(ScalarPrinter&&) noexcept = default;
ScalarPrinter::~ScalarPrinter() = default;

void ScalarPrinter::process_scalar(std::string_view name, double value) { impl_->scalars.put(name, value); }

void ScalarPrinter::print() {
  std::vector<std::pair<std::string, double>> shown;
  for (size_t i = 0; i < impl_->scalars.size(); ++i) {
    const auto& scalar = impl_->scalars[i];
    if (impl_->shows(scalar.name)) shown.emplace_back(scalar.name, scalar.value);
  }
  impl_->scalars.clear();
  std::sort(shown.begin(), shown.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  for (const auto& [name, value] : shown) {
    char digits[32];
    snprintf(digits, sizeof digits, "%.5g", value);
    logger::info(name, ": ", digits);
  }
}

void ScalarPrinter::before_train() { trigger(); }

void ScalarPrinter::trigger_step() {
  if (!impl_->enable_step) return;
  const bool comes_with_epoch = context().loop().is_last_step() && impl_->enable_epoch;
  if (!comes_with_epoch) print();
}

void ScalarPrinter::trigger() {
  if (impl_->enable_epoch) print();
}

struct SendMonitorData::Impl {
  std::vector<std::string> names;
  internal::CommandTemplate command;
  std::vector<double> values;
  std::vector<bool> is_new;
};

SendMonitorData::SendMonitorData(std::string_view command, std::vector<std::string> names) {
  MARTELLO_CHECK(!names.empty(), "[SendMonitorData] has no names of scalars to send.");
  internal::CommandTemplate parsed(command, names, "SendMonitorData");
  const size_t count = names.size();
  impl_ = Owned(new Impl{std::move(names), std::move(parsed), std::vector<double>(count), std::vector<bool>(count)});
}
SendMonitorData::SendMonitorData(SendMonitorData&&) noexcept = default;
SendMonitorData::~SendMonitorData() = default;

void SendMonitorData::process_scalar(std::string_view name, double value) {
  const auto found = std::find(impl_->names.begin(), impl_->names.end(), name);
  if (found == impl_->names.end()) return;
  const auto i = static_cast<size_t>(found - impl_->names.begin());
  impl_->values[i] = value;
  impl_->is_new[i] = true;
}

void SendMonitorData::send() {
  if (std::find(impl_->is_new.begin(), impl_->is_new.end(), false) != impl_->is_new.end()) return;
  impl_->is_new.assign(impl_->is_new.size(), false);
  internal::run_command(impl_->command.with(impl_->values), name());
}

void SendMonitorData::trigger_step() { send(); }
void SendMonitorData::trigger() { send(); }

}  // namespace martello
