#include <martello/base/error.h>
#include <martello/tower/tower_func.h>
#include <martello/train/internal/trainer_impl.h>

#include <algorithm>

namespace martello {

CommitPoint& TrainerContext::commit_point() const { return trainer_.impl_->commit_point; }
TimeAccount* TrainerContext::time_account() const { return &trainer_.impl_->account; }

bool TrainerContext::accepts(std::string_view difference) const {
  const auto& names = trainer_.impl_->accepted;
  return std::find(names.begin(), names.end(), difference) != names.end();
}

bool TrainerContext::starts_over() const { return trainer_.impl_->is_resumed_by_itself && !trainer_.impl_->resumed; }

TowerFunc& TrainerContext::tower_func() const {
  if (TowerFunc* f = trainer_.find_tower_func()) return *f;
  throw FailedPrecondition("[trainer] has no tower function, so it has no towers. Use a TowerTrainer.");
}

TowerHandles TrainerContext::towers() const {
  const TowerFunc* f = trainer_.find_tower_func();
  return f ? f->towers() : TowerHandles();
}

const std::vector<TensorSpec>& TrainerContext::input_signature() const { return tower_func().input_signature(); }

Tensor TrainerContext::get_tensor(std::string_view name, SourceLine line) const {
  if (const auto found = graph().find_tensor(name)) return *found;
  const TowerHandles training = towers().training();
  if (training.empty()) return graph().get_tensor(name, line);
  return training[0].get_tensor(name, line);
}

}  // namespace martello
