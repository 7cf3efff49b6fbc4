#pragma once
#include <martello/data/internal/stage.h>

namespace martello::data::internal {

// Passes of a flow back to back, without end when `times` is -1.
class RepeatIterator final : public StageIterator {
 public:
  RepeatIterator(std::string stage, DataFlowRef source, Pass pass, int64_t times);

 private:
  std::optional<Datapoint> produce() override;
  void position(State& s) override;
  void advance(int64_t n) override;
  void open();

  DataFlowRef source_;
  Pass pass_;
  int64_t times_, repetition_ = 0;
  std::unique_ptr<DataIterator> iterator_;
  bool is_empty_ = true;
};

}  // namespace martello::data::internal
