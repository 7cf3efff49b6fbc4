#pragma once
#include <martello/martello.h>

#include <random>
#include <string>
#include <vector>

// Graphs that nobody would write on purpose: each must give values or an Error, never a signal, never take long.
namespace martello::testing {

class Dice {
 public:
  explicit Dice(uint64_t seed) : engine_(seed) {}
  int64_t below(int64_t n) { return static_cast<int64_t>(engine_() % static_cast<uint64_t>(n)); }
  bool one_in(int64_t n) { return below(n) == 0; }
  template <class List>
  const auto& of(const List& list) {
    return list[static_cast<size_t>(below(static_cast<int64_t>(list.size())))];
  }

 private:
  std::mt19937_64 engine_;  // the same on every machine, unlike the distributions of the standard library
};

// How far attributes go: as the op defaults them, small numbers that often make sense, anything.
enum class Malice { none, some, all };

Attrs make_attrs(const OpDef& def, Dice& dice, Malice malice);
DType any_dtype(Dice& dice);

// NaN, infinities, denormals, the largest and smallest of the dtype, between small numbers.
HostTensor hostile_value(const Shape& shape, DType dtype, Dice& dice);
// Small numbers only, in a range where indices and sizes lie too.
HostTensor tame_value(const Shape& shape, DType dtype, Dice& dice);

// The largest number of bytes of one tensor, counted without overflow; unknown dimensions as 3.
double largest_bytes(const Graph& graph);

// A value or an Error is a good end; says whether it was a value. Fails the test on anything else, and when it takes
// longer than a second (much longer under sanitizers). `what` is shown when a signal ends the process.
bool ends_well(const std::string& what, const std::function<void()>& f);

}  // namespace martello::testing
