#pragma once
#include <martello/graph/op_def.h>

namespace martello {

enum class AllReduceKind { sum, mean };
std::vector<std::string> enum_names(AllReduceKind);

struct AllReduceAttrs {
  AllReduceKind kind = AllReduceKind::sum;
  bool operator==(const AllReduceAttrs&) const = default;
  static void fields(auto& self, auto&& f) { f("kind", self.kind); }
};
// The sum or mean of x over all devices that compute this step together, on each of them; x itself on one device. x
// has one shape on all of them.
Tensor all_reduce(Operand x, AllReduceAttrs attrs = {}, Name name = "all_reduce");
extern const OpDef op_all_reduce;

}  // namespace martello
