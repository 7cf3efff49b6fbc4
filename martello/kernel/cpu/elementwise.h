#pragma once
#include <martello/kernel/cpu/formula.h>
#include <martello/tensor/dtype.h>
#include <martello/tensor/shape.h>

#include <memory>
#include <optional>
#include <span>
#include <vector>

// Element-wise programs, with a reduction of the result if wanted. Results have the same bits whatever the threads, the
// instruction set, the alignment, and however a chain of ops is cut into programs.
namespace martello::cpu {

struct ElementwiseArg {
  enum class Kind { input, value, constant };
  Kind kind = Kind::input;
  int index = 0;      // of an input, or of the instruction that computed the value
  double number = 0;  // of a constant

  static ElementwiseArg input(int i) { return {Kind::input, i, 0}; }
  static ElementwiseArg value(int i) { return {Kind::value, i, 0}; }
  static ElementwiseArg constant(double number) { return {Kind::constant, 0, number}; }
  bool operator==(const ElementwiseArg&) const = default;
};

struct ElementwiseInstr {
  const Formula* formula = nullptr;
  ElementwiseArg args[3] = {};
  double p[2] = {0, 0};
};

struct ElementwiseOutput {
  ElementwiseArg arg;  // a value, or an input or constant as it is
  DType dtype = f32;
};

struct ElementwiseProgram {
  DType dtype = f32;                     // computed in: f32 or f64
  std::vector<DType> input_dtypes = {};  // dtype, or boolean and u8, which are converted
  std::vector<ElementwiseInstr> instrs = {};
  // In dtype, boolean (not 0) or u8 (truncated to 0 ... 255); of an f32 program also bf16 (to nearest).
  std::vector<ElementwiseOutput> outputs = {};
};
inline constexpr int kMaxElementwiseInstrs = 64, kMaxElementwiseInputs = 64, kMaxElementwiseOutputs = 32;

// Of the program's only output. Of nothing: sum 0, prod 1, mean NaN, max -inf, min +inf. NaN propagates.
struct Reduction {
  enum class Kind { sum, mean, max, min, prod };
  Kind kind = Kind::sum;
  std::vector<int> axes = {};
  bool keep_dims = false;
};

// A program for given shapes. Immutable; copies share the plan; run() may be called by many threads at once.
class ElementwiseKernel {
 public:
  // Inputs broadcast to `out` (without the reduction) by numpy's rules. All shapes are known.
  ElementwiseKernel(const ElementwiseProgram& program, const Shape& out, std::span<const Shape> inputs,
                    const std::optional<Reduction>& reduction = std::nullopt, Isa isa = host_isa());

  const Shape& result_shape() const;  // after the reduction
  int64_t scratch_bytes(int threads) const;
  // Allocates nothing. `rows` is the size of dimension 0 in this run, up to the planned one; -1 means as planned. An
  // output may be the same memory as an input of the same shape and dtype.
  void run(const void* const* inputs, void* const* outputs, void* scratch, int threads, int64_t rows = -1) const;

 private:
  struct Plan;
  std::shared_ptr<const Plan> plan_;
};

}  // namespace martello::cpu
