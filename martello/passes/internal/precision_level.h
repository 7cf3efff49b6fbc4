#pragma once
#include <martello/kernel/cpu/isa.h>
#include <martello/kernel/cpu/onednn.h>
#include <martello/passes/precision.h>

namespace martello::internal {

// As check_precision(), for a processor of this level whose library has bf16 in this way.
void check_precision(Precision precision, cpu::Isa level, onednn::Bf16 library);

}  // namespace martello::internal
