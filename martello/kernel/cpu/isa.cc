#include <martello/base/error.h>
#include <martello/kernel/cpu/isa.h>

#include <cpuid.h>

#include <algorithm>
#include <cstdlib>

namespace martello::cpu {
namespace {

bool has_v2() { return __builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("popcnt"); }

// The builtin of clang 14 does not know f16c.
bool has_f16c() {
  unsigned a, b, c, d;
  return __get_cpuid(1, &a, &b, &c, &d) && (c & bit_F16C);
}

bool has_v3() {
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi") &&
         __builtin_cpu_supports("bmi2") && has_f16c();
}

bool has_v4() {
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
}

Isa machine_isa() {
  __builtin_cpu_init();
  MARTELLO_CHECK(has_v2(), "[cpu] this processor lacks SSE4.2 (x86-64-v2), which every kernel needs. Use a newer one.");
  if (!has_v3()) return Isa::v2;
  return has_v4() ? Isa::v4 : Isa::v3;
}

Isa chosen_isa() {
  const Isa machine = machine_isa();
  const char* text = std::getenv("MARTELLO_ISA");
  if (!text || !*text) return machine;
  for (Isa isa : {Isa::v2, Isa::v3, Isa::v4}) {
    if (text == to_string(isa)) return std::min(isa, machine);
  }
  MARTELLO_CHECK(false, "[cpu] MARTELLO_ISA is '", text, "', expected v2, v3 or v4. Correct it or unset it.");
  return machine;
}

}  // namespace

std::string_view to_string(Isa isa) {
  constexpr std::string_view names[kIsas] = {"v2", "v3", "v4"};
  return names[static_cast<int>(isa)];
}

Isa host_isa() {
  static const Isa isa = chosen_isa();
  return isa;
}

}  // namespace martello::cpu
