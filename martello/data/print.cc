#include <martello/base/error.h>
#include <martello/base/log.h>
#include <martello/data/internal/stage.h>

namespace martello {

using namespace data::internal;

namespace {

class PrintIterator final : public StageIterator {
 public:
  PrintIterator(std::string stage, std::unique_ptr<DataIterator> source, int64_t count)
      : StageIterator(std::move(stage)), source_(std::move(source)), count_(count) {}

 private:
  std::optional<Datapoint> produce() override {
    std::optional<Datapoint> dp = source_->next();
    if (dp && printed_ < count_) logger::info("[", stage(), "] datapoint ", printed_++, ": ", *dp);
    return dp;
  }
  void position(State& s) override { s("printed", printed_), s("source", *source_); }

  std::unique_ptr<DataIterator> source_;
  int64_t count_, printed_ = 0;
};

}  // namespace

DataFlowRef DataFlowRef::print(const PrintOptions& options, SourceLine line) const {
  const DataFlowRef source = checked_source(*this, "print", line);
  const std::string stage = stage_text("print", line, options.name);
  MARTELLO_CHECK(options.count >= 1, "[", stage, "] prints ", options.count, " datapoints; it must print one or more.");
  return make_flow({.type = "",
                    .sources = {source},
                    .size = source.size(),
                    .iterate =
                        [=](const Pass& pass) {
                          return std::make_unique<PrintIterator>(stage, source->iterate(pass), options.count);
                        },
                    .random_access = [=](const Pass& pass) { return source->random_access(pass); }});
}

}  // namespace martello
