#include <martello/base/error.h>
#include <martello/base/log.h>
#include <martello/data/internal/stage.h>
#include <martello/data/sources.h>

#include <optional>

namespace martello {
namespace {

class GeneratorIterator final : public data::internal::StageIterator {
 public:
  GeneratorIterator(std::shared_ptr<const GeneratorFlow> flow, Pass pass)
      : StageIterator(flow->description()), flow_(std::move(flow)), pass_(std::move(pass)) {}

 private:
  std::optional<Datapoint> produce() override {
    if (!generator_) generator_.emplace(flow_->generate(pass_));
    std::optional<Datapoint> dp = generator_->next();
    given_ += dp.has_value();
    return dp;
  }

  void position(State& s) override {
    int64_t given = given_;
    s("given", given);
    if (s.restoring()) replay(given);
  }

  void replay(int64_t given) {
    if (given > 0) logger::info("[", stage(), "] is restored by running ", given, " datapoints again.");
    generator_.reset();
    for (given_ = 0; given_ < given;)
      MARTELLO_CHECK(produce(), "[", stage(), "] ended after ", given_, " datapoints while ", given,
                     " were made again to restore it. A coroutine must give the same in the same data pass.");
  }

  std::shared_ptr<const GeneratorFlow> flow_;
  Pass pass_;
  std::optional<Generator<Datapoint>> generator_;
  int64_t given_ = 0;
};

class FunctionFlow final : public GeneratorFlow {
 public:
  FunctionFlow(std::function<Generator<Datapoint>(Pass)> f, SourceLine line) : f_(std::move(f)), line_(line) {}
  Generator<Datapoint> generate(Pass pass) const override { return f_(std::move(pass)); }
  std::string description() const override { return str("from_generator(", line_, ")"); }

 private:
  std::function<Generator<Datapoint>(Pass)> f_;
  SourceLine line_;
};

}  // namespace

std::unique_ptr<DataIterator> GeneratorFlow::iterate(Pass pass) const {
  const auto owner = weak_from_this().lock();
  return std::make_unique<GeneratorIterator>(std::shared_ptr<const GeneratorFlow>(owner, this), std::move(pass));
}

DataFlowRef data::from_generator(std::function<Generator<Datapoint>(Pass)> f, SourceLine line) {
  MARTELLO_CHECK(f, "[from_generator (", line, ")] the function is empty.");
  return FunctionFlow(std::move(f), line);
}

}  // namespace martello
