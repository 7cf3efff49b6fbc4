#include <martello/base/error.h>
#include <martello/data/internal/stage.h>
#include <martello/data/token.h>

#include <algorithm>
#include <numeric>

namespace martello {

using namespace data::internal;

namespace {

// Holds datapoints, saves only where they came from: `before` of the oldest, and the ordinals of all in buffer order.
class LocalShuffleIterator final : public StageIterator {
 public:
  LocalShuffleIterator(std::string stage, const DataFlowRef& source, const Pass& pass, int64_t buffer)
      : StageIterator(std::move(stage)), source_(source, pass.below()), key_(pass.key()), buffer_(buffer) {}

 private:
  struct Slot {
    Datapoint datapoint;
    int64_t ordinal = 0;
    Token before;
  };

  std::optional<Datapoint> produce() override {
    while (!source_ended_ && static_cast<int64_t>(slots_.size()) < buffer_) read();
    if (slots_.empty()) return std::nullopt;
    Rng rng(key_, static_cast<uint64_t>(given_++));
    std::swap(slots_[static_cast<size_t>(rng.below(static_cast<int64_t>(slots_.size())))], slots_.back());
    std::optional<Datapoint> dp = std::move(slots_.back().datapoint);
    slots_.pop_back();
    return dp;
  }

  void read() {
    const Token before = source_.token();
    if (std::optional<Item> item = source_.next()) slots_.push_back({std::move(item->datapoint), read_++, before});
    else source_ended_ = true;
  }

  void position(State& s) override {
    std::vector<int64_t> ordinals;
    Token oldest = source_.token();
    int64_t first = read_;
    for (const Slot& slot : slots_) {
      ordinals.push_back(slot.ordinal);
      if (slot.ordinal < first) first = slot.ordinal, oldest = slot.before;
    }
    s("given", given_), s("read", read_), s("source_ended", source_ended_);
    s("first", first), s("ordinals", ordinals), s("oldest", oldest);
    if (s.restoring()) refill(oldest, first, ordinals);
  }

  // One walk over the source, from the oldest datapoint in the buffer to where it had been read.
  void refill(const Token& oldest, int64_t first, const std::vector<int64_t>& ordinals) {
    std::vector<size_t> order(ordinals.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return ordinals[a] < ordinals[b]; });
    slots_.assign(ordinals.size(), {});
    source_.restore(oldest);
    int64_t at = first;
    for (size_t slot : order) {
      MARTELLO_CHECK(at <= ordinals[slot] && ordinals[slot] < read_, "[", stage(), "] the saved buffer has datapoint ",
                     ordinals[slot], ", not between ", at, " and ", read_, ". The state is damaged.");
      source_.skip(ordinals[slot] - at);
      const Token before = source_.token();
      std::optional<Item> item = source_.next();
      MARTELLO_CHECK(item, "[", stage(), "] the source ended before datapoint ", ordinals[slot],
                     ", which it gave when the position was saved. It has changed.");
      slots_[slot] = {std::move(item->datapoint), ordinals[slot], before};
      at = ordinals[slot] + 1;
    }
    source_.skip(read_ - at);
  }

  TokenIterator source_;
  uint64_t key_;
  int64_t buffer_, read_ = 0, given_ = 0;
  bool source_ended_ = false;
  std::vector<Slot> slots_;
};

}  // namespace

DataFlowRef DataFlowRef::shuffle_locally(int64_t buffer, SourceLine line) const {
  const DataFlowRef source = checked_source(*this, "shuffle_locally", line);
  check_exact(source, "shuffle_locally", line);
  const std::string stage = stage_text("shuffle_locally", line);
  MARTELLO_CHECK(buffer >= 1, "[", stage, "] a buffer of ", buffer, " datapoints; it must hold one or more.");
  return make_flow({.type = "shuffle_locally",
                    .options = str(buffer),
                    .sources = {source},
                    .size = source.size(),
                    .iterate = [=](const Pass& pass) {
                      return std::make_unique<LocalShuffleIterator>(stage, source, pass, buffer);
                    }});
}

}  // namespace martello
