#pragma once
#include <martello/graph/op_def.h>

namespace martello {

struct CastAttrs {
  DType dtype = f32;
  bool operator==(const CastAttrs&) const = default;
  static void fields(auto& self, auto&& f) { f("dtype", self.dtype); }
};
extern const OpDef op_cast, op_zeros_like, op_ones_like;

// x in another dtype, as HostTensor::cast: to an integer it drops the fraction and stops at the ends of the range (NaN
// gives 0), to bool it asks whether x is not zero, to a smaller float it rounds to nearest even.
Tensor cast(Operand x, DType dtype, Name name = "cast");
// Constants with the shape and dtype of x.
Tensor zeros_like(Operand x, Name name = "zeros_like");
Tensor ones_like(Operand x, Name name = "ones_like");

}  // namespace martello
