#pragma once
#include <martello/models/layer.h>
#include <martello/models/opt.h>
#include <martello/tower/tower_context.h>

namespace martello::internal {

// The tower the layer is built in; the error outside one names the layer.
inline TowerContext& tower_of(const LayerScope& layer) {
  const std::string& where = layer.where();  // "[dropout 'drop'] "
  return get_current_tower_context(std::string_view(where).substr(1, where.size() - 3));
}

// The layer's own option, else what the tower does.
inline bool is_training(const LayerScope& layer, const Opt<bool>& training) {
  return training.is_set() ? *training : tower_of(layer).is_training();
}

}  // namespace martello::internal
