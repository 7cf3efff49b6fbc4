#include <martello/runtime/kernel_choices.h>

#include <martello/base/error.h>
#include <martello/base/strings.h>

#include <algorithm>

namespace martello {
namespace {

constexpr std::string_view kHead = "martello kernel choices 1", kArrow = " => ";

bool is_line(std::string_view text) {
  return !text.empty() && text.find('\n') == text.npos && text.find(kArrow) == text.npos;
}

}  // namespace

std::string_view to_string(KernelChoice choice) {
  constexpr std::string_view kNames[] = {"fixed", "measured", "replayed"};
  return kNames[static_cast<size_t>(choice)];
}

KernelChoices KernelChoices::parse(std::string_view text) {
  KernelChoices choices;
  MARTELLO_CHECK(text.ends_with('\n'), "[kernel choices] the last line ", quoted(text.substr(text.rfind('\n') + 1)),
                 " has no end: the text was cut off.");
  const auto lines = split(text.substr(0, text.size() - 1), '\n');
  MARTELLO_CHECK(lines[0] == kHead, "[kernel choices] the first line is ", quoted(lines[0]), ", not ", quoted(kHead),
                 ": this is no text of kernel choices, or one of another version.");
  for (size_t i = 1; i < lines.size(); ++i) {
    const size_t arrow = lines[i].find(kArrow);
    const bool is_ok = arrow != std::string::npos && is_line(lines[i].substr(0, arrow)) &&
                       is_line(lines[i].substr(arrow + kArrow.size()));
    MARTELLO_CHECK(is_ok, "[kernel choices] line ", i + 1, " is ", quoted(lines[i]), ", not 'node => kernel'.");
    const std::string node = lines[i].substr(0, arrow);
    MARTELLO_CHECK(!choices.find(node), "[kernel choices] line ", i + 1, " chooses again for ", quoted(node), ".");
    choices.set(node, lines[i].substr(arrow + kArrow.size()));
  }
  return choices;
}

std::string KernelChoices::str() const {
  std::string text = martello::str(kHead, "\n");
  for (const auto& [node, kernel] : entries_) text += martello::str(node, kArrow, kernel, "\n");
  return text;
}

size_t KernelChoices::place_of(const std::string& node) const {
  const auto is_before = [](const Entry& entry, const std::string& wanted) { return entry.node < wanted; };
  return static_cast<size_t>(std::lower_bound(entries_.begin(), entries_.end(), node, is_before) - entries_.begin());
}

const std::string* KernelChoices::find(const std::string& node) const {
  const size_t at = place_of(node);
  return at < entries_.size() && entries_[at].node == node ? &entries_[at].kernel : nullptr;
}

void KernelChoices::set(const std::string& node, const std::string& kernel) {
  MARTELLO_CHECK(is_line(node) && is_line(kernel), "[kernel choices] ", quoted(node), " and ", quoted(kernel),
                 " must be one line each, without ", quoted(kArrow), ".");
  const size_t at = place_of(node);
  if (at == entries_.size() || entries_[at].node != node)
    entries_.insert(entries_.begin() + static_cast<std::ptrdiff_t>(at), {node, {}});
  entries_[at].kernel = kernel;
}

}  // namespace martello
