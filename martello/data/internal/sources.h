#pragma once
#include <martello/data/internal/stage.h>

namespace martello::data::internal {

// The iterators of a stage with several sources, all open at once.
class Sources {
 public:
  Sources(const std::vector<DataFlowRef>& flows, const Pass& pass) {
    for (size_t i = 0; i < flows.size(); ++i) iterators_.push_back(flows[i]->iterate(pass.below(i)));
  }
  size_t size() const { return iterators_.size(); }
  DataIterator& operator[](size_t i) { return *iterators_[i]; }
  void state(State& s) {
    for (size_t i = 0; i < iterators_.size(); ++i) s(str(i), *iterators_[i]);
  }

 private:
  std::vector<std::unique_ptr<DataIterator>> iterators_;
};

}  // namespace martello::data::internal
