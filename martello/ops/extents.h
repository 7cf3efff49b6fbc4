#pragma once
#include <martello/graph/tensor.h>

#include <concepts>
#include <vector>

namespace martello {
namespace internal {
template <class T>
concept ExtentPart = (std::integral<T> && !std::same_as<T, bool>) || std::derived_from<T, Tensor>;
}

// A shape that may depend on other tensors: a Shape, a braced list of sizes and scalar Tensors, or one integer vector.
//   reshape(x, {-1, 784});  reshape(x, {shape(x)[0], -1});  reshape(x, shape(y));
class Extents {
 public:
  Extents() = default;  // of a scalar
  Extents(Shape shape);
  Extents(Tensor sizes);  // a vector of sizes, or one size
  template <internal::ExtentPart... P>
  requires(sizeof...(P) > 1 || (sizeof...(P) == 1 && (std::integral<P> && ...))) Extents(P... parts) {
    (add(parts), ...);
  }

  // One more dimension.
  template <std::integral I>
  void add(I size) {
    sizes_.push_back(static_cast<int64_t>(size));
    tensors_.emplace_back();
  }
  void add(Tensor size);

  bool is_static() const;  // no Tensor in it
  Shape shape() const;     // kUnknown where a Tensor stands
  // The sizes as a vector in the current graph; nodes it makes get names below `name` and the line of `name`.
  Tensor tensor(Name name) const;

 private:
  Tensor sizes_tensor(Name name) const;

  std::vector<int64_t> sizes_;
  std::vector<Tensor> tensors_;  // null where the size is a number
  Tensor vector_;
  bool has_null_ = false;  // was given a Tensor that was never assigned
};

// The inputs {x} or {x, sizes} of an op that takes its shape as an attribute or as a vector.
std::vector<Operand> with_extents(std::vector<Operand> in, const Extents& extents, Name name);

// The shape of x, for reshaping to it: a static one with at most one -1 where that is enough, else shape(x).
Extents extents_like(Tensor x);

}  // namespace martello
