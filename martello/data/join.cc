#include <martello/base/error.h>
#include <martello/data/combine.h>
#include <martello/data/internal/sources.h>

#include <algorithm>

namespace martello::data {

using namespace internal;

namespace {

class JoinIterator final : public StageIterator {
 public:
  JoinIterator(std::string stage, const std::vector<DataFlowRef>& flows, const Pass& pass)
      : StageIterator(std::move(stage)), sources_(flows, pass) {}

 private:
  std::optional<Datapoint> produce() override {
    Datapoint joined;
    for (size_t i = 0; i < sources_.size(); ++i) {
      const std::optional<Datapoint> dp = sources_[i].next();
      if (!dp) return std::nullopt;
      append(joined, *dp, i);
    }
    return joined;
  }
  void append(Datapoint& joined, const Datapoint& dp, size_t flow) const {
    MARTELLO_CHECK(joined.size() == 0 || dp.size() == 0 || joined.keys().empty() == dp.keys().empty(), "[", stage(),
                   "] flow ", flow, " gives ", dp.signature(), ", those before it ", joined.signature(),
                   ": all must have keys, or none.");
    for (size_t i = 0; i < dp.size(); ++i) {
      if (dp.keys().empty()) {
        joined.push_back(dp[i]);
        continue;
      }
      MARTELLO_CHECK(!joined.find(dp.keys()[i]), "[", stage(), "] the key '", dp.keys()[i], "' of flow ", flow,
                     " stands in a flow before it too: ", joined.signature(), ".");
      joined.set(dp.keys()[i], dp[i]);
    }
  }
  void position(State& s) override { s("sources", sources_); }
  void advance(int64_t n) override {
    for (size_t i = 0; i < sources_.size(); ++i) sources_[i].skip(n);
  }

  Sources sources_;
};

}  // namespace

DataFlowRef join(const std::vector<DataFlowRef>& flows, SourceLine line) {
  check_sources(flows, "join", line);
  const std::string stage = stage_text("join", line);
  std::optional<int64_t> size = flows[0].size();
  for (const DataFlowRef& flow : flows)
    size = size && flow.size() ? std::optional(std::min(*size, *flow.size())) : std::nullopt;
  return make_flow({.type = "join", .sources = flows, .size = size, .iterate = [=](const Pass& pass) {
                      return std::make_unique<JoinIterator>(stage, flows, pass);
                    }});
}

}  // namespace martello::data
