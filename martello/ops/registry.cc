#include <martello/graph/op_def.h>

// The built-in ops, from the martello_op lines of CMakeLists.txt.
namespace martello {

#define MARTELLO_OP(name) extern const OpDef op_##name;
#include <martello/ops/op_list.inc>
#undef MARTELLO_OP

namespace {
constexpr const OpDef* kOps[] = {
#define MARTELLO_OP(name) &op_##name,
#include <martello/ops/op_list.inc>
#undef MARTELLO_OP
};
}  // namespace

std::span<const OpDef* const> builtin_ops() { return kOps; }

}  // namespace martello
