#include <martello/base/error.h>
#include <martello/data/internal/bad_sample_guard.h>
#include <martello/data/internal/stage.h>

namespace martello {

using namespace data::internal;

namespace {

class GuardedAccess final : public RandomAccess {
 public:
  GuardedAccess(std::shared_ptr<RandomAccess> source, BadSampleGuard guard, std::string stage)
      : source_(std::move(source)), guard_(std::move(guard)), stage_(std::move(stage)) {}
  int64_t count() const override { return source_->count(); }
  bool may_drop() const override { return true; }
  std::optional<Datapoint> get(int64_t i) override {
    try {
      return source_->get(i);
    } catch (...) {
      return guard_.handle(i, current_error_in(stage_));
    }
  }
  void state(State& s) override { s("bad_samples", guard_), s("source", *source_); }

 private:
  std::shared_ptr<RandomAccess> source_;
  BadSampleGuard guard_;
  std::string stage_;
};

}  // namespace

DataFlowRef DataFlowRef::on_bad_sample(const BadSamples& options, SourceLine line) const {
  const DataFlowRef source = checked_source(*this, "on_bad_sample", line);
  const std::string stage = stage_text("on_bad_sample", line);
  check_bad_samples(options, stage);
  FlowParts flow{.type = "on_bad_sample", .options = description_of(options), .sources = {source}};
  if (options.action != OnBadSample::skip) flow.size = source.size();
  flow.random_access = [=](const Pass& pass) -> std::shared_ptr<RandomAccess> {
    auto access = source->random_access(pass);
    MARTELLO_CHECK(access, "[", stage, "] needs random access, which ", source.description(),
                   " does not have: after an error it could not go on. Use the option bad_samples of map().");
    BadSampleGuard guard(options, stage, access->count(), pass.number);
    return std::make_shared<GuardedAccess>(std::move(access), std::move(guard), stage);
  };
  flow.iterate = [stage, open = flow.random_access](const Pass& pass) {
    return std::make_unique<IndexedIterator>(stage, open(pass));
  };
  return make_flow(std::move(flow));
}

}  // namespace martello
