#include <martello/data/internal/bad_sample_guard.h>
#include <martello/data/internal/map.h>

namespace martello {

using namespace data::internal;

namespace {

class StatefulMapIterator final : public StageIterator {
 public:
  StatefulMapIterator(std::string stage, std::unique_ptr<DataIterator> source, Owned<internal::StatefulFunction> f,
                      const Pass& pass, BadSampleGuard guard)
      : StageIterator(std::move(stage)),
        source_(std::move(source)),
        f_(std::move(f)),
        key_(pass.key()),
        guard_(std::move(guard)) {}

 private:
  std::optional<Datapoint> produce() override {
    while (std::optional<Datapoint> dp = source_->next())
      if (std::optional<Datapoint> result = call(std::move(*dp))) return result;
    return std::nullopt;
  }
  std::optional<Datapoint> call(Datapoint dp) {
    const int64_t ordinal = ordinal_++;
    Rng rng(key_, static_cast<uint64_t>(ordinal));
    if (guard_.stops()) return f_->call(std::move(dp), rng);
    try {
      return f_->call(std::move(dp), rng);
    } catch (...) {
      return guard_.handle(ordinal, current_error_in(stage()));
    }
  }
  void position(State& s) override {
    s("ordinal", ordinal_), s("function", *f_), s("bad_samples", guard_), s("source", *source_);
  }

  std::unique_ptr<DataIterator> source_;
  Owned<internal::StatefulFunction> f_;
  uint64_t key_;
  BadSampleGuard guard_;
  int64_t ordinal_ = 0;
};

}  // namespace

DataFlowRef DataFlowRef::stateful_map_of(const std::shared_ptr<const internal::StatefulFunction>& f,
                                         const MapOptions& o, SourceLine line) const {
  checked_source(*this, "stateful_map", line);
  const std::string stage = stage_text("stateful_map", line, o.name);
  check_bad_samples(o.bad_samples, stage);
  const DataFlowRef source = *this;
  return make_flow({.type = "stateful_map",
                    .options = map_description(o.name, o.version, o.bad_samples, line),
                    .sources = {source},
                    .iterate = [=](const Pass& pass) {
                      return std::make_unique<StatefulMapIterator>(
                          stage, source->iterate(pass.below()), f->copy(), pass,
                          BadSampleGuard(o.bad_samples, stage, source.size(), pass.number));
                    }});
}

}  // namespace martello
