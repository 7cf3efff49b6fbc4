#include <martello/callbacks/run_update_ops.h>
#include <martello/train/train_config.h>

namespace martello {

CallbackList default_callbacks() { return {RunUpdateOps()}; }
std::vector<Ref<Monitor>> default_monitors() { return {}; }

}  // namespace martello
