#pragma once
#include <martello/graph/tensor.h>
#include <martello/ops/data_format.h>

namespace martello {

struct BiasAddAttrs {
  DataFormat data_format = DataFormat::nhwc;
};
// x + b, one number per channel. An addition with b in the shape that broadcasts: fusion and gradients see no more.
Tensor bias_add(Operand x, Operand b, BiasAddAttrs attrs = {}, Name name = "bias_add");
Tensor bias_add(Operand x, Operand b, Name name);

}  // namespace martello
