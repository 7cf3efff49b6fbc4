#include <martello/base/error.h>
#include <martello/callbacks/inference/internal/inference_tower.h>
#include <martello/ops/shape.h>

namespace martello::internal {

InferenceTower::InferenceTower(const TowerHandle& tower, const std::vector<Ref<Inferencer>>& inferencers)
    : inputs_(tower.inputs()),
      samples_(std::make_unique<SampleHook>(
          inputs_.empty() || inputs_[0].rank() == 0 ? Tensor() : shape(inputs_[0], "batch_shape"))) {
  for (const Ref<Inferencer>& i : inferencers) {
    try {
      const TensorList tensors = tower.get_tensors(i->fetches(), {});
      i->check(tensors);
      inferencers_.push_back(std::make_unique<InferencerHook>(*i, tensors, *samples_));
    } catch (Error& e) {
      e.add_context(str("for inferencer '", i->name(), "'"));
      throw;
    }
  }
}

std::vector<RunHook*> InferenceTower::hooks() const {
  std::vector<RunHook*> list = {samples_.get()};
  for (const auto& h : inferencers_) list.push_back(h.get());
  return list;
}

void InferenceTower::set_silent(bool v) {
  for (const auto& h : inferencers_) h->set_silent(v);
}

}  // namespace martello::internal
