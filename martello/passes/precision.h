#pragma once
#include <cstdint>

namespace martello {

// What large products, convolutions among them, multiply in. Everything else, sums and variables included, is f32
// either way.
//
// GCC takes enumerators of a scoped enum for shadows of the dtypes.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"
enum class Precision : uint8_t { f32, bf16 };
#pragma GCC diagnostic pop
const char* to_string(Precision precision);

// Throws unless this processor has it.
void check_precision(Precision precision);

}  // namespace martello
