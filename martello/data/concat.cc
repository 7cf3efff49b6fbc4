#include <martello/base/checked.h>
#include <martello/data/combine.h>
#include <martello/data/internal/stage.h>

#include <algorithm>

namespace martello::data {

using namespace internal;

namespace {

class ConcatIterator final : public StageIterator {
 public:
  ConcatIterator(std::string stage, std::vector<DataFlowRef> flows, Pass pass)
      : StageIterator(std::move(stage)), flows_(std::move(flows)), pass_(std::move(pass)) {
    open();
  }

 private:
  std::optional<Datapoint> produce() override {
    while (iterator_) {
      if (std::optional<Datapoint> dp = iterator_->next()) return dp;
      ++flow_;
      open();
    }
    return std::nullopt;
  }
  void open() {
    const auto i = static_cast<size_t>(flow_);
    iterator_ = i < flows_.size() ? flows_[i]->iterate(pass_.below(i)) : nullptr;
  }
  void position(State& s) override {
    s("flow", flow_);
    MARTELLO_CHECK(0 <= flow_ && flow_ <= static_cast<int64_t>(flows_.size()), "[", stage(), "] a position in flow ",
                   flow_, " is restored, there are ", flows_.size(), ".");
    if (s.restoring()) open();
    if (iterator_) s("source", *iterator_);
  }

  std::vector<DataFlowRef> flows_;
  Pass pass_;
  int64_t flow_ = 0;
  std::unique_ptr<DataIterator> iterator_;
};

class ConcatAccess final : public RandomAccess {
 public:
  explicit ConcatAccess(std::vector<std::shared_ptr<RandomAccess>> parts) : parts_(std::move(parts)) {
    for (const auto& part : parts_) ends_.push_back(checked_add(count(), part->count()));
  }
  int64_t count() const override { return ends_.empty() ? 0 : ends_.back(); }
  bool may_drop() const override {
    return std::any_of(parts_.begin(), parts_.end(), [](const auto& part) { return part->may_drop(); });
  }
  std::optional<Datapoint> get(int64_t index) override {
    const auto i = static_cast<size_t>(std::upper_bound(ends_.begin(), ends_.end(), index) - ends_.begin());
    return parts_[i]->get(index - (i == 0 ? 0 : ends_[i - 1]));
  }
  void state(State& s) override {
    for (size_t i = 0; i < parts_.size(); ++i) s(str("source", i), *parts_[i]);
  }

 private:
  std::vector<std::shared_ptr<RandomAccess>> parts_;
  std::vector<int64_t> ends_;
};

std::shared_ptr<RandomAccess> access_to(const std::vector<DataFlowRef>& flows, const Pass& pass) {
  std::vector<std::shared_ptr<RandomAccess>> parts;
  for (size_t i = 0; i < flows.size(); ++i) {
    parts.push_back(flows[i]->random_access(pass.below(i)));
    if (!parts.back()) return nullptr;
  }
  return std::make_shared<ConcatAccess>(std::move(parts));
}

}  // namespace

DataFlowRef concat(const std::vector<DataFlowRef>& flows, SourceLine line) {
  check_sources(flows, "concat", line);
  const std::string stage = stage_text("concat", line);
  std::optional<int64_t> size = 0;
  for (const DataFlowRef& flow : flows)
    size = size && flow.size() ? std::optional(checked_add(*size, *flow.size())) : std::nullopt;
  return make_flow(
      {.type = "concat",
       .sources = flows,
       .size = size,
       .iterate = [=](Pass pass) { return std::make_unique<ConcatIterator>(stage, flows, std::move(pass)); },
       .random_access = [=](const Pass& pass) { return access_to(flows, pass); }});
}

}  // namespace martello::data
