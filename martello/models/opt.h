#pragma once
#include <martello/base/error.h>

#include <concepts>
#include <cstddef>
#include <string_view>
#include <type_traits>
#include <utility>

namespace martello {

template <class T>
struct Unset {
  T value;
};
template <class T>
Unset<T> unset(T value) {
  return {std::move(value)};
}

// A layer option that knows whether the user set it. `Opt<bool> use_bias = unset(true);` is a visible default.
template <class T>
class Opt {
 public:
  template <class U>
  requires std::convertible_to<U, T> Opt(Unset<U> d) : value_(std::move(d.value)) {}
  template <class U>
  requires(std::convertible_to<U, T> && !std::same_as<std::remove_cvref_t<U>, Opt>) Opt(U&& u)
      : value_(std::forward<U>(u)), is_set_(true) {}
  // Picks one of an overloaded name: .activation = mt::bn_relu
  template <class U = T>
  Opt(typename U::Function f) : value_(f), is_set_(true) {}
  // .stride = {2, 2}
  template <class A, class B, class... R>
  requires std::constructible_from<T, A, B, R...> Opt(A&& a, B&& b, R&&... r)
      : value_(std::forward<A>(a), std::forward<B>(b), std::forward<R>(r)...), is_set_(true) {}

  operator const T&() const { return value_; }
  const T& operator*() const { return value_; }
  const T* operator->() const { return &value_; }
  bool is_set() const { return is_set_; }

 private:
  T value_;
  bool is_set_ = false;
};

// What a struct of layer options must have: fields(f, self...) that names each Opt once.
template <class T>
concept LayerOptions = requires(T a, T b) {
  T::fields([](std::string_view, auto&, auto&) {}, a, b);
};

namespace internal {
struct AnyOpt {
  template <class T>
  operator Opt<T>() const;
};
// How many options an aggregate T has.
template <class T, class... A>
constexpr size_t count_options() {
  if constexpr (requires { T{A{}..., AnyOpt{}}; }) return count_options<T, A..., AnyOpt>();
  else return sizeof...(A);
}
template <class T>
void check_fields(const T& options) {
  if constexpr (std::is_aggregate_v<T>) {
    size_t named = 0;
    T::fields([&](std::string_view, const auto&) { ++named; }, options);
    MARTELLO_CHECK(named == count_options<T>(), "[arg_scope] fields() of the options struct names ", named, " of its ",
                   count_options<T>(), " options. Name each once, or an ArgScope would not reach it.");
  }
}
}  // namespace internal

// `call` with the options that only `scope` sets.
template <LayerOptions T>
T merged(T call, const T& scope) {
  internal::check_fields(call);
  T::fields(
      [](std::string_view, auto& c, const auto& s) {
        if (!c.is_set() && s.is_set()) c = s;
      },
      call, scope);
  return call;
}

}  // namespace martello
