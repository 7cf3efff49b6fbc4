#pragma once
#include <string_view>

namespace martello::cpu {

// Levels of x86-64 that ISA sources are compiled for. Which one runs changes speed only: all give the same bits.
enum class Isa { v2, v3, v4 };
inline constexpr int kIsas = 3;
std::string_view to_string(Isa isa);

// The best level of this machine; MARTELLO_ISA=v2|v3|v4 in the environment can lower it. Decided once.
Isa host_isa();

// The one for this machine.
template <class T>
const T& of_host_isa(const T& v2, const T& v3, const T& v4) {
  const T* const levels[kIsas] = {&v2, &v3, &v4};
  return *levels[static_cast<int>(host_isa())];
}

}  // namespace martello::cpu
