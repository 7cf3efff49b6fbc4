#include <martello/train/internal/step_counter.h>

#include <martello/base/log.h>
#include <martello/optim/global_step.h>

namespace martello {

void MaintainStepCounter::setup_graph() {
  variable_ = get_global_step_var().handle();
  advance_ = advance_global_step({}, "global_step_incr");
}

void MaintainStepCounter::before_train() {
  if (loop_.global_step != 0) logger::info("[trainer] starts at global_step ", loop_.global_step, ".");
}

void MaintainStepCounter::read(Session& session) { loop_.global_step = session.get(variable_).scalar<int64_t>(); }

}  // namespace martello
