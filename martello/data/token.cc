#include <martello/base/error.h>
#include <martello/data/token.h>

#include <algorithm>

namespace martello {
namespace {

// A position is saved for so many datapoints that it costs little per datapoint, whatever its size: a large one is that
// of a shuffle buffer. Restoring makes at most as many again.
constexpr int64_t kLeastInterval = 64, kMostInterval = 8192, kBytesPerDatapoint = 128;

}  // namespace

void Token::state(State& s) {
  std::string position = position_ ? *position_ : std::string();
  s("position", position), s("after", after_);
  if (s.restoring()) position_ = position.empty() ? nullptr : std::make_shared<const std::string>(std::move(position));
}

TokenIterator::TokenIterator(DataFlowRef flow, Pass pass)
    : flow_(std::move(flow)),
      pass_(std::move(pass)),
      iterator_(flow_->iterate(pass_)),
      interval_(flow_->is_exact() ? kLeastInterval : 1) {}

std::optional<Item> TokenIterator::next() {
  std::optional<Datapoint> dp = iterator_->next();
  if (!dp) return std::nullopt;
  if (++token_.after_ >= interval_) save_position();
  return Item{std::move(*dp), token_};
}

void TokenIterator::skip(int64_t n) {
  if (n == 0) return;
  iterator_->skip(n);
  save_position();
}

void TokenIterator::save_position() {
  token_.position_ = std::make_shared<const std::string>(save_state(*iterator_));
  token_.after_ = 0;
  // Datapoints of a flow that is not exact cannot be counted: another run would count others.
  if (!flow_->is_exact()) return;
  const auto bytes = static_cast<int64_t>(token_.position_->size());
  interval_ = std::clamp(bytes / kBytesPerDatapoint, kLeastInterval, kMostInterval);
}

void TokenIterator::restore(const Token& token) {
  iterator_ = flow_->iterate(pass_);
  if (token.position_) restore_state(*iterator_, *token.position_);
  MARTELLO_CHECK(token.after_ >= 0, "[data] a token counts ", token.after_, " datapoints. It is damaged.");
  iterator_->skip(token.after_);
  token_ = token;
}

}  // namespace martello
