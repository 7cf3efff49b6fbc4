#include <martello/ops/embedding.h>
#include <martello/ops/gather.h>

namespace martello {

Tensor embedding_lookup(Operand table, Operand ids, Name name) { return gather(table, ids, {}, name); }

}  // namespace martello
