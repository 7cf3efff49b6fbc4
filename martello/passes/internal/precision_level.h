#pragma once
#include <martello/kernel/cpu/isa.h>
#include <martello/passes/precision.h>

namespace martello::internal {

// As check_precision(), for a processor of this level whose library says whether it has bf16.
void check_precision(Precision precision, cpu::Isa level, bool has_bf16);

}  // namespace martello::internal
