#include <martello/base/error.h>
#include <martello/base/internal/lines_only_in.h>
#include <martello/base/log.h>
#include <martello/base/threads.h>
#include <martello/graph/internal/graph_text.h>
#include <martello/kernel/cpu/isa.h>
#include <martello/kernel/cpu/onednn.h>
#include <martello/loop/time_account.h>
#include <martello/train/internal/fingerprint.h>

#include <algorithm>

namespace martello {
namespace {

constexpr std::string_view kEnvironment = "environment";
constexpr size_t kMostLines = 6, kMostWidth = 200;

// One line each, of the input or of all others.
std::string descriptions(const CallbackList& callbacks, bool of_input) {
  std::string lines;
  for (const Ref<Callback>& c : callbacks) {
    const bool is_input = dynamic_cast<const WaitedInput*>(c.get()) != nullptr;
    const std::string text = is_input == of_input ? c->description() : "";
    if (!text.empty()) lines += text + "\n";
  }
  return lines;
}

std::string environment(const SessionOptions& session) {
  return str("Martello ", MARTELLO_VERSION, "\n", onednn::version(), " with ", onednn::instruction_set(),
             "\ninstruction set x86-64-", cpu::host_isa(), "\ncompute threads ",
             session.threads > 0 ? session.threads : default_threads(), "\n");
}

const FingerprintItem* find(const Fingerprint& items, const std::string& name) {
  const auto found = std::find_if(items.begin(), items.end(), [&](const auto& i) { return i.name == name; });
  return found == items.end() ? nullptr : &*found;
}

void append_lines(std::string& text, std::string_view sign, const std::vector<std::string>& lines) {
  for (size_t i = 0; i < std::min(lines.size(), kMostLines); ++i)
    text += str("\n    ", sign, " ", lines[i].substr(0, kMostWidth), lines[i].size() > kMostWidth ? " ..." : "");
  if (lines.size() > kMostLines) text += str("\n    ", sign, " and ", lines.size() - kMostLines, " more lines");
}

std::string difference(const FingerprintItem& saved, const std::string& now) {
  std::string text = str("\n  ", saved.name, ":");
  const auto was = internal::lines_only_in(saved.text, now), is = internal::lines_only_in(now, saved.text);
  if (was.empty() && is.empty()) return text + " the same lines in another order";
  append_lines(text, "-", was);
  append_lines(text, "+", is);
  return text;
}

}  // namespace

Fingerprint fingerprint_of(const FingerprintParts& p) {
  return {{"graph", internal::graph_text(p.graph, {.lines = false})},
          {"trainer", p.trainer},
          {"devices", join(p.devices)},
          {"precision", str(p.session.precision)},
          {"steps_per_epoch", str(p.steps_per_epoch)},
          {"callbacks", descriptions(p.callbacks, false)},
          {"data", descriptions(p.callbacks, true)},
          {std::string(kEnvironment), environment(p.session)}};
}

void compare_fingerprints(const Fingerprint& saved, const Fingerprint& now, const std::vector<std::string>& accepted,
                          std::string_view who) {
  std::string refused;
  std::vector<std::string> names;
  for (const FingerprintItem& item : saved) {
    const FingerprintItem* present = find(now, item.name);
    const std::string text = present ? present->text : "";
    if (text == item.text) continue;
    const bool is_accepted = std::find(accepted.begin(), accepted.end(), item.name) != accepted.end();
    if (item.name == kEnvironment || is_accepted) {
      logger::warn(who, "differs from the run that was saved", is_accepted ? ", which is accepted" : "",
                   item.name == kEnvironment ? "; the last bits may differ too" : "", ":", difference(item, text));
      continue;
    }
    refused += difference(item, text);
    names.push_back(str("\"", item.name, "\""));
  }
  if (!refused.empty())
    throw FailedPrecondition(str(who, "this program is not the one that was saved (- then, + now):", refused,
                                 "\nUndo the difference, or accept it: .resume.accept = {", join(names), "}."));
}

}  // namespace martello
