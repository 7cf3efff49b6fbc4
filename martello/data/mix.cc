#include <martello/base/checked.h>
#include <martello/data/combine.h>
#include <martello/data/internal/sources.h>

#include <cmath>
#include <numeric>

namespace martello::data {

using namespace internal;

namespace {

// Drawn by the number of datapoints left: every interleaving is as likely as any other.
class MixIterator final : public StageIterator {
 public:
  MixIterator(std::string stage, const std::vector<DataFlowRef>& flows, const Pass& pass, std::vector<int64_t> left)
      : StageIterator(std::move(stage)), sources_(flows, pass), key_(pass.key()), left_(std::move(left)) {}

 private:
  std::optional<Datapoint> produce() override {
    const int64_t total = std::accumulate(left_.begin(), left_.end(), int64_t{0});
    if (total == 0) return std::nullopt;
    Rng rng(key_, static_cast<uint64_t>(given_++));
    int64_t drawn = rng.below(total);
    size_t i = 0;
    while (drawn >= left_[i]) drawn -= left_[i++];
    std::optional<Datapoint> dp = sources_[i].next();
    MARTELLO_CHECK(dp, "[", stage(), "] flow ", i, " ended ", left_[i],
                   " datapoints before the size it states. mix() needs exact sizes.");
    --left_[i];
    return dp;
  }
  void position(State& s) override {
    const size_t flows = left_.size();
    s("given", given_), s("left", left_), s("sources", sources_);
    MARTELLO_CHECK(left_.size() == flows, "[", stage(), "] a position among ", left_.size(),
                   " flows is restored, there are ", flows, ".");
  }

  Sources sources_;
  uint64_t key_;
  std::vector<int64_t> left_;
  int64_t given_ = 0;
};

class ChooseIterator final : public StageIterator {
 public:
  ChooseIterator(std::string stage, const std::vector<DataFlowRef>& flows, const Pass& pass, std::vector<double> ends)
      : StageIterator(std::move(stage)), sources_(flows, pass), key_(pass.key()), ends_(std::move(ends)) {}

 private:
  std::optional<Datapoint> produce() override {
    Rng rng(key_, static_cast<uint64_t>(given_));
    const double drawn = rng.uniform() * ends_.back();
    size_t i = 0;
    while (i + 1 < ends_.size() && drawn >= ends_[i]) ++i;
    std::optional<Datapoint> dp = sources_[i].next();
    given_ += dp.has_value();  // at the end the same flow is drawn again
    return dp;
  }
  void position(State& s) override { s("given", given_), s("sources", sources_); }

  Sources sources_;
  uint64_t key_;
  std::vector<double> ends_;  // running sums of the weights
  int64_t given_ = 0;
};

}  // namespace

DataFlowRef mix(const std::vector<DataFlowRef>& flows, SourceLine line) {
  check_sources(flows, "mix", line);
  const std::string stage = stage_text("mix", line);
  std::vector<int64_t> sizes;
  int64_t size = 0;
  for (size_t i = 0; i < flows.size(); ++i) {
    MARTELLO_CHECK(flows[i].size(), "[", stage, "] the size of flow ", i, " (", flows[i].description(),
                   ") is not known, so it cannot be mixed evenly. Use choose(), or cache() it.");
    sizes.push_back(*flows[i].size());
    size = checked_add(size, sizes.back());
  }
  return make_flow({.type = "mix", .sources = flows, .size = size, .iterate = [=](const Pass& pass) {
                      return std::make_unique<MixIterator>(stage, flows, pass, sizes);
                    }});
}

DataFlowRef choose(const std::vector<Choice>& choices, SourceLine line) {
  const std::string stage = stage_text("choose", line);
  std::vector<DataFlowRef> flows;
  std::vector<double> ends;
  std::vector<std::string> weights;
  for (const Choice& choice : choices) {
    MARTELLO_CHECK(std::isfinite(choice.weight) && choice.weight > 0, "[", stage, "] flow ", flows.size(),
                   " has the weight ", choice.weight, "; a weight must be positive and finite.");
    flows.push_back(choice.flow);
    ends.push_back((ends.empty() ? 0 : ends.back()) + choice.weight);
    weights.push_back(str(choice.weight));
  }
  check_sources(flows, "choose", line);
  return make_flow(
      {.type = "choose", .options = martello::join(weights), .sources = flows, .iterate = [=](const Pass& pass) {
         return std::make_unique<ChooseIterator>(stage, flows, pass, ends);
       }});
}

}  // namespace martello::data
