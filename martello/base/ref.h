#pragma once
#include <concepts>
#include <cstddef>
#include <memory>
#include <type_traits>
#include <utility>

namespace martello {

template <class T>
class Ref;

namespace internal {
template <class D>
inline constexpr bool is_ref = false;
template <class T>
inline constexpr bool is_ref<Ref<T>> = true;
template <class T>
inline constexpr bool is_ref<std::shared_ptr<T>> = true;
template <class T>
inline constexpr bool is_ref<std::unique_ptr<T>> = true;
template <class D, class T>
concept Part = !is_ref<std::remove_cvref_t<D>> && std::derived_from<std::remove_cvref_t<D>, T>;
}  // namespace internal

// Shared ownership of a part that a user hands over (optimizer, callback, data flow ...). Made from a value,
// `Adam(1e-3)`, or from make<T>(...); a named object must be moved.
template <class T>
class Ref {
 public:
  Ref() = default;
  Ref(std::nullptr_t) {}
  template <class D>
  requires std::convertible_to<D*, T*> Ref(std::shared_ptr<D> p) : p_(std::move(p)) {}
  template <class D>
  requires std::convertible_to<D*, T*> Ref(std::unique_ptr<D> p) : p_(std::move(p)) {}
  template <class D>
  requires(!std::same_as<D, T> && std::convertible_to<D*, T*>) Ref(Ref<D> r) : p_(std::move(r.p_)) {}
  template <internal::Part<T> D>
  requires(!std::is_lvalue_reference_v<D>) Ref(D&& d) {
    static_assert(!std::is_abstract_v<D>, "abstract: a pure virtual is not overridden (compare const and parameters)");
    static_assert(!std::same_as<D, T>, "would slice: pass the shared_ptr or unique_ptr that owns it");
    static_assert(std::move_constructible<D>, "not movable: hold it by make<D>(...)");
    p_ = std::make_shared<D>(std::move(d));
  }
  template <internal::Part<T> D>
  Ref(D&) = delete;  // a named object: write std::move(x), or auto x = make<D>(...)

  T* operator->() const { return p_.get(); }
  T& operator*() const { return *p_; }
  T* get() const { return p_.get(); }
  explicit operator bool() const { return p_ != nullptr; }

 private:
  template <class>
  friend class Ref;
  std::shared_ptr<T> p_;
};

template <class T, class... A>
std::shared_ptr<T> make(A&&... a) {
  return std::make_shared<T>(std::forward<A>(a)...);
}

}  // namespace martello
