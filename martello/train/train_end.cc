#include <martello/train/train_end.h>

#include <martello/base/strings.h>

#include <array>

namespace martello {

std::string_view to_string(TrainEnd::Reason reason) {
  static constexpr std::array<std::string_view, 4> kNames = {"finished", "stopped", "interrupted", "failed"};
  return kNames[static_cast<size_t>(reason)];
}

TrainEnd::operator int() const {
  switch (reason) {
    case finished:
    case stopped: return failed_saves > 0 ? 3 : 0;
    case interrupted: return 128 + signal;
    case failed: return 1;
  }
  return 1;
}

void TrainEnd::rethrow() const {
  if (error) std::rethrow_exception(error);
}

std::string TrainEnd::str() const {
  std::string text(to_string(reason));
  if (!message.empty()) text += martello::str(": ", message);
  return failed_saves == 0 ? text : martello::str(text, " (", failed_saves, " checkpoints could not be saved)");
}

}  // namespace martello
