#pragma once
#include <martello/tensor/host_tensor.h>

#include <concepts>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace martello {

// A list of components, by index, or by key when all were set() with one. Components share bytes until somebody writes
// them. The constructor is variadic: GCC 12 rejects an initializer_list inside a co_yield expression.
class Datapoint {
 public:
  Datapoint() = default;
  template <class... T>
  requires(sizeof...(T) > 0 && (std::constructible_from<HostTensor, T> && ...) &&
           !(std::same_as<std::remove_cvref_t<T>, Datapoint> || ...)) explicit(sizeof...(T) == 1)
      Datapoint(T&&... components) {
    components_.reserve(sizeof...(components));
    (components_.emplace_back(std::forward<T>(components)), ...);
  }
  static Datapoint of(HostTensors components);

  // Adds a component with a key, or replaces the one that has it. Refuses a key for a datapoint without keys.
  Datapoint& set(std::string_view key, HostTensor value);
  // Adds a component without a key.
  Datapoint& push_back(HostTensor value);

  HostTensor& operator[](size_t i) { return components_[checked(i)]; }
  const HostTensor& operator[](size_t i) const { return components_[checked(i)]; }
  HostTensor& operator[](std::string_view key) { return components_[index_of(key)]; }
  const HostTensor& operator[](std::string_view key) const { return components_[index_of(key)]; }

  size_t size() const { return components_.size(); }
  const HostTensors& components() const { return components_; }
  const std::vector<std::string>& keys() const { return keys_; }  // empty, or one for each component
  std::optional<size_t> find(std::string_view key) const;
  size_t index_of(std::string_view key) const;  // throws when there is none

  int64_t num_bytes() const;
  bool same_bits(const Datapoint& other) const;  // keys, dtypes, shapes and bytes
  std::string signature() const;                 // "(image f32[28, 28, 1], label i32[])"
  std::string str() const;                       // the same with the least and greatest value of each

 private:
  size_t checked(size_t i) const {
    if (i >= components_.size()) [[unlikely]]
      refuse_index(i);
    return i;
  }
  [[noreturn]] void refuse_index(size_t i) const;

  HostTensors components_;
  std::vector<std::string> keys_;
};

// Names one component of a datapoint: by index or by key.
class Component {
 public:
  template <std::integral I>
  requires(!std::same_as<I, bool>) Component(I i) : index_(static_cast<int64_t>(i)) {}
  Component(const char* key) : key_(key) {}
  Component(std::string key) : key_(std::move(key)) {}

  size_t in(const Datapoint& dp) const;  // its index; throws when there is none
  std::string str() const;               // 2, or "label"

 private:
  int64_t index_ = -1;
  std::string key_;
};

}  // namespace martello
