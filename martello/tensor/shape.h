#pragma once
#include <concepts>
#include <cstdint>
#include <string>
#include <vector>

namespace martello {

inline constexpr int64_t kUnknown = -1;

// Dimensions of a tensor, outermost first. While a graph is defined a dimension may be unknown (-1); an unknown one may
// carry a symbol, so that two tensors can be known to agree in it. Variadic, not initializer_list: GCC 12 rejects an
// initializer_list inside a co_yield expression.
class Shape {
 public:
  Shape() = default;
  template <std::integral... D>
  requires(sizeof...(D) > 0) Shape(D... d) : dims_{static_cast<int64_t>(d)...} {}
  explicit Shape(std::vector<int64_t> dims) : dims_(std::move(dims)) {}

  int rank() const { return static_cast<int>(dims_.size()); }
  // A size, or kUnknown. Negative i counts from the end.
  int64_t operator[](int i) const;
  bool is_known() const;  // every dimension
  // Product of all dimensions, checked; throws when one is unknown.
  int64_t num_elements() const;
  // Of dimensions [begin, end).
  int64_t num_elements(int begin, int end) const;
  std::string str() const;  // "[32, ?, 3]"

  // Same size, or both unknown with the same symbol.
  bool operator==(const Shape&) const = default;

  // With symbols: a size, -1, or below -1 for "unknown, the same wherever this number stands".
  const std::vector<int64_t>& symbolic() const { return dims_; }
  Shape without_symbols() const;
  Shape with(int i, int64_t symbolic_dim) const;
  Shape slice(int begin, int end) const;  // dimensions [begin, end)
  void push_back(int64_t symbolic_dim);

 private:
  std::vector<int64_t> dims_;
};

// `axis` in [-rank, rank) as a number in [0, rank), or -1 when it is out of range.
int normalized_axis(int axis, int rank);

}  // namespace martello
