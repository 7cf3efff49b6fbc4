#pragma once
#include <martello/base/owned.h>
#include <martello/base/state.h>
#include <martello/data/datapoint.h>
#include <martello/data/rng.h>

#include <functional>
#include <memory>
#include <type_traits>

namespace martello {
namespace internal {

template <class F>
inline constexpr bool is_map_function = std::is_invocable_r_v<std::optional<Datapoint>, F, Datapoint, Rng&> ||
                                        std::is_invocable_r_v<std::optional<Datapoint>, F, Datapoint>;

template <class F>
bool is_null(const F& f) {
  if constexpr (std::is_pointer_v<F>) return f == nullptr;
  else if constexpr (requires { f.operator bool(); }) return !f.operator bool();
  else return false;
}

template <class F>
decltype(auto) call_map(F& f, Datapoint dp, Rng& rng) {
  if constexpr (std::is_invocable_v<F&, Datapoint, Rng&>) return f(std::move(dp), rng);
  else return f(std::move(dp));
}

}  // namespace internal

// What map() takes: a function of a Datapoint, and of an Rng& when it wants random numbers (keyed by seed, stage, data
// pass and ordinal), that gives a Datapoint, or an optional one: none drops it. It should keep no state of its own.
class MapFunction {
 public:
  MapFunction() = default;
  template <class F>
  requires(!std::same_as<F, MapFunction> && internal::is_map_function<F&>) MapFunction(F f) {
    if (internal::is_null(f)) return;
    may_drop_ = !std::convertible_to<decltype(internal::call_map(f, Datapoint(), std::declval<Rng&>())), Datapoint>;
    call_ = [f = std::move(f)](Datapoint dp, Rng& rng) mutable -> std::optional<Datapoint> {
      return internal::call_map(f, std::move(dp), rng);
    };
  }
  explicit operator bool() const { return call_ != nullptr; }
  bool may_drop() const { return may_drop_; }
  std::optional<Datapoint> operator()(Datapoint dp, Rng& rng) const { return call_(std::move(dp), rng); }

 private:
  std::function<std::optional<Datapoint>(Datapoint, Rng&)> call_;
  bool may_drop_ = false;
};

namespace internal {

// A function with a state that is saved: each data pass begins with a copy of the one that was given.
class StatefulFunction {
 public:
  virtual ~StatefulFunction() = default;
  virtual Owned<StatefulFunction> copy() const = 0;
  virtual std::optional<Datapoint> call(Datapoint dp, Rng& rng) = 0;
  virtual void state(State& s) = 0;
};

template <class F>
class StatefulFunctionOf final : public StatefulFunction {
 public:
  explicit StatefulFunctionOf(F f) : f_(std::move(f)) {}
  Owned<StatefulFunction> copy() const override { return Owned<StatefulFunction>(new StatefulFunctionOf(f_)); }
  std::optional<Datapoint> call(Datapoint dp, Rng& rng) override { return call_map(f_, std::move(dp), rng); }
  void state(State& s) override { f_.state(s); }

 private:
  F f_;
};

}  // namespace internal
}  // namespace martello
