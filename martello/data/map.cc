#include <martello/base/error.h>
#include <martello/data/internal/bad_sample_guard.h>
#include <martello/data/internal/map.h>
#include <martello/data/internal/stage_clock.h>

#include <algorithm>

namespace martello {

using namespace data::internal;

namespace data::internal {
namespace {

// What iterator and random access share: the function, its random numbers and what happens when it fails.
class Mapper {
 public:
  Mapper(const MapParts& parts, const Pass& pass, std::optional<int64_t> size)
      : f_(parts.f), key_(pass.key()), guard_(parts.bad_samples, parts.stage, size, pass.number), stage_(parts.stage) {}
  std::optional<Datapoint> operator()(Datapoint dp, int64_t ordinal) {
    Rng rng(key_, static_cast<uint64_t>(ordinal));
    if (guard_.stops()) return f_(std::move(dp), rng);
    try {
      return f_(std::move(dp), rng);
    } catch (...) {
      return guard_.handle(ordinal, current_error_in(stage_));
    }
  }
  bool may_drop() const { return f_.may_drop() || !guard_.stops(); }
  bool has_state() const { return !guard_.stops(); }
  void state(State& s) { guard_.state(s); }

 private:
  MapFunction f_;
  uint64_t key_;
  BadSampleGuard guard_;
  std::string stage_;
};

class MapIterator final : public StageIterator {
 public:
  MapIterator(const MapParts& parts, const Pass& pass)
      : StageIterator(parts.stage),
        source_(parts.source->iterate(pass.below())),
        mapper_(parts, pass, parts.source.size()) {}

 private:
  std::optional<Datapoint> produce() override {
    while (std::optional<Datapoint> dp = source_->next())
      if (std::optional<Datapoint> result = mapper_(std::move(*dp), ordinal_++)) return result;
    return std::nullopt;
  }
  void position(State& s) override {
    s("ordinal", ordinal_), s("source", *source_);
    if (mapper_.has_state()) s("bad_samples", mapper_);
  }
  void advance(int64_t n) override {
    if (mapper_.may_drop()) return StageIterator::advance(n);
    source_->skip(n);
    ordinal_ = saturating_add(ordinal_, n);
  }

  std::unique_ptr<DataIterator> source_;
  Mapper mapper_;
  int64_t ordinal_ = 0;
};

class MapAccess final : public RandomAccess {
 public:
  MapAccess(const MapParts& parts, const Pass& pass, std::shared_ptr<RandomAccess> source)
      : source_(std::move(source)), mapper_(parts, pass, source_->count()), stage_(parts.stage) {}
  int64_t count() const override { return source_->count(); }
  bool may_drop() const override { return source_->may_drop() || mapper_.may_drop(); }
  std::optional<Datapoint> get(int64_t index) override {
    std::optional<Datapoint> dp = source_->get(index);
    if (!dp) return dp;
    const StageScope scope(stage_);
    try {
      return mapper_(std::move(*dp), index);
    } catch (...) {
      std::rethrow_exception(current_error_in(stage_));
    }
  }
  void state(State& s) override {
    s("source", *source_);
    if (mapper_.has_state()) s("bad_samples", mapper_);
  }

 private:
  std::shared_ptr<RandomAccess> source_;
  Mapper mapper_;
  std::string stage_;
};

}  // namespace

DataFlowRef make_map(std::string type, std::string options, MapParts parts) {
  MARTELLO_CHECK(parts.f, "[", parts.stage, "] the function is empty.");
  check_bad_samples(parts.bad_samples, parts.stage);
  const bool may_drop = parts.f.may_drop() || parts.bad_samples.action == OnBadSample::skip;
  FlowParts flow{.type = std::move(type), .options = std::move(options), .sources = {parts.source}};
  if (!may_drop) flow.size = parts.source.size();
  flow.iterate = [parts](const Pass& pass) { return std::make_unique<MapIterator>(parts, pass); };
  flow.random_access = [parts](const Pass& pass) -> std::shared_ptr<RandomAccess> {
    auto source = parts.source->random_access(pass.below());
    return source ? std::make_shared<MapAccess>(parts, pass, std::move(source)) : nullptr;
  };
  return make_flow(std::move(flow));
}

std::string map_description(std::string_view name, std::string_view version, const BadSamples& bad,
                            const SourceLine& line) {
  std::vector<std::string> parts;
  if (!name.empty()) parts.push_back(quoted(name));
  if (!version.empty()) parts.push_back(str("version=", quoted(version)));
  if (const std::string text = description_of(bad); !text.empty()) parts.push_back(text);
  if (line.known()) parts.push_back(line.str());
  return join(parts);
}

}  // namespace data::internal

DataFlowRef DataFlowRef::map(MapFunction f, const MapOptions& o, SourceLine line) const {
  checked_source(*this, "map", line);
  return make_map("map", map_description(o.name, o.version, o.bad_samples, line),
                  {*this, std::move(f), o.bad_samples, stage_text("map", line, o.name)});
}

DataFlowRef DataFlowRef::map_component(const Component& component, MapComponentFn f, SourceLine line) const {
  checked_source(*this, "map_component", line);
  MARTELLO_CHECK(f, "[", stage_text("map_component", line), "] the function is empty.");
  const auto call = [component, f = std::move(f)](Datapoint dp) {
    HostTensor& value = dp[component.in(dp)];
    value = f(std::move(value));
    return dp;
  };
  return make_map("map_component", str(component, ", ", line), {*this, call, {}, stage_text("map_component", line)});
}

DataFlowRef DataFlowRef::filter(std::function<bool(const Datapoint&)> f, SourceLine line) const {
  checked_source(*this, "filter", line);
  MARTELLO_CHECK(f, "[", stage_text("filter", line), "] the function is empty.");
  const auto call = [f = std::move(f)](Datapoint dp) -> std::optional<Datapoint> {
    if (!f(dp)) return std::nullopt;
    return dp;
  };
  return make_map("filter", line.str(), {*this, call, {}, stage_text("filter", line)});
}

DataFlowRef DataFlowRef::select(const std::vector<Component>& components, SourceLine line) const {
  checked_source(*this, "select", line);
  MARTELLO_CHECK(!components.empty(), "[", stage_text("select", line), "] selects no component.");
  std::vector<std::string> texts;
  texts.reserve(components.size());
  for (const Component& component : components) texts.push_back(component.str());
  const auto call = [components](const Datapoint& dp) {
    Datapoint result;
    for (const Component& component : components) {
      const size_t i = component.in(dp);
      if (dp.keys().empty()) result.push_back(dp[i]);
      else result.set(dp.keys()[i], dp[i]);
    }
    return result;
  };
  return make_map("select", join(texts), {*this, call, {}, stage_text("select", line)});
}

}  // namespace martello
