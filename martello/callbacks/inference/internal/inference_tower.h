#pragma once
#include <martello/base/ref.h>
#include <martello/callbacks/inference/internal/inference_hooks.h>
#include <martello/tower/tower_handle.h>

#include <memory>
#include <vector>

namespace martello::internal {

// A predict tower and what takes its values to inferencers.
class InferenceTower {
 public:
  // Refuses names that the tower does not have, and tensors that an inferencer cannot use. In setup_graph.
  InferenceTower(const TowerHandle& tower, const std::vector<Ref<Inferencer>>& inferencers);

  const TensorList& inputs() const { return inputs_; }
  std::vector<RunHook*> hooks() const;  // valid while it lives
  void set_silent(bool v);              // values are fetched, and kept from the inferencers
  int64_t samples() const { return samples_->total(); }
  void reset() { samples_->reset(); }

 private:
  TensorList inputs_;
  std::unique_ptr<SampleHook> samples_;
  std::vector<std::unique_ptr<InferencerHook>> inferencers_;
};

}  // namespace martello::internal
