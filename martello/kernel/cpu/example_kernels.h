#pragma once
#include <martello/kernel/cpu/elementwise.h>
#include <martello/kernel/cpu/example_formulas.h>

#include <cstring>
#include <functional>
#include <vector>

// What the tests of this folder share: the example formulas, and programs run over exactly sized heap buffers.
MARTELLO_DECLARE_FORMULAS(MARTELLO_EXAMPLE_UNARY_FORMULAS)
MARTELLO_DECLARE_FORMULAS(MARTELLO_EXAMPLE_BINARY_FORMULAS)
MARTELLO_DECLARE_FORMULAS(MARTELLO_EXAMPLE_TERNARY_FORMULAS)

namespace martello::cpu {

inline std::vector<Isa> isas_here() {
  std::vector<Isa> isas;
  for (int i = 0; i <= static_cast<int>(host_isa()); ++i) isas.push_back(static_cast<Isa>(i));
  return isas;
}

template <class T>
ElementwiseProgram program_of(int inputs, std::vector<ElementwiseInstr> instrs = {}) {
  ElementwiseProgram program{dtype_of<T>, std::vector<DType>(static_cast<size_t>(inputs), dtype_of<T>), instrs, {}};
  const auto last =
      instrs.empty() ? ElementwiseArg::input(0) : ElementwiseArg::value(static_cast<int>(instrs.size()) - 1);
  program.outputs = {{last, dtype_of<T>}};
  return program;
}

// The only output of a run.
template <class T>
std::vector<T> run_kernel(const ElementwiseKernel& kernel, const std::vector<std::vector<T>>& inputs, int threads = 1,
                          int64_t rows = -1) {
  Shape shape = kernel.result_shape();
  std::vector<T> y(static_cast<size_t>(shape.num_elements()), T(-77));
  std::vector<const void*> in;
  for (const auto& x : inputs) in.push_back(x.data());
  std::vector<char> scratch(static_cast<size_t>(kernel.scratch_bytes(threads)));
  void* out[] = {y.data()};
  kernel.run(in.data(), out, scratch.data(), threads, rows);
  return y;
}

// Same bits, except that any NaN equals any other.
template <class T>
bool same_bits(const std::vector<T>& a, const std::vector<T>& b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    if (std::memcmp(&a[i], &b[i], sizeof(T)) != 0 && !(a[i] != a[i] && b[i] != b[i])) return false;
  }
  return true;
}

}  // namespace martello::cpu
