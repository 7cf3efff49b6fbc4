#include <martello/callbacks/run_update_ops.h>

#include <martello/base/log.h>
#include <martello/graph/core_ops.h>

namespace martello {

void RunUpdateOps::setup_graph() {
  const auto ops = context().graph().collections().get(collection_);
  if (ops.empty()) return;
  logger::info("[RunUpdateOps] ", ops.size(), " operations of '", collection_.name, "' run with every step.");
  op_ = group(ops, "update_ops");
}

}  // namespace martello
