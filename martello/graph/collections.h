#pragma once
#include <martello/graph/tensor.h>

#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace martello {

// Key of a typed list. Users make their own: inline constexpr CollectionKey<Tensor> kMyLosses{"my_losses"};
template <class T>
struct CollectionKey {
  const char* name;
};

inline constexpr CollectionKey<Variable> kGlobalVariables{"global_variables"};
inline constexpr CollectionKey<Variable> kLocalVariables{"local_variables"};
inline constexpr CollectionKey<Variable> kTrainableVariables{"trainable_variables"};
inline constexpr CollectionKey<Variable> kModelVariables{"model_variables"};
inline constexpr CollectionKey<Operation> kUpdateOps{"update_ops"};
inline constexpr CollectionKey<Tensor> kSummaries{"summaries"};
inline constexpr CollectionKey<Operation> kMovingSummaryOps{"moving_summary_ops"};
inline constexpr CollectionKey<Tensor> kRegularizationLosses{"regularization_losses"};
inline constexpr CollectionKey<Tensor> kLosses{"losses"};

// Typed lists of a graph under well-known keys, in order of insertion.
class Collections {
 public:
  template <class T>
  void add(CollectionKey<T> key, const T& value, SourceLine line = SourceLine::current()) {
    list<T>(key.name, line).push_back(value);
  }
  // A copy, so that it stays valid while the graph grows. Empty for a key never used.
  template <class T>
  std::vector<T> get(CollectionKey<T> key) const {
    const auto* found = find<T>(key.name);
    return found ? *found : std::vector<T>();
  }
  template <class T>
  void set(CollectionKey<T> key, std::vector<T> values, SourceLine line = SourceLine::current()) {
    list<T>(key.name, line) = std::move(values);
  }
  std::vector<std::string> keys() const;

 private:
  template <class T>
  struct Named {
    std::string name;
    std::vector<T> values;
  };
  template <class T>
  using Lists = std::vector<Named<T>>;

  template <class T>
  auto& lists() {
    if constexpr (std::is_same_v<T, Variable>) return variables_;
    else if constexpr (std::is_same_v<T, Operation>) return operations_;
    else if constexpr (std::is_same_v<T, Tensor>) return tensors_;
    else return texts_;
  }
  template <class T>
  const std::vector<T>* find(std::string_view name) const {
    static_assert(std::is_same_v<T, Variable> || std::is_same_v<T, Operation> || std::is_same_v<T, Tensor> ||
                      std::is_same_v<T, std::string>,
                  "a collection holds Variables, Operations, Tensors or strings");
    for (const auto& n : const_cast<Collections*>(this)->lists<T>())
      if (n.name == name) return &n.values;
    return nullptr;
  }
  template <class T>
  std::vector<T>& list(std::string_view name, SourceLine line) {
    check_editable(name, line);
    if (const auto* found = find<T>(name)) return const_cast<std::vector<T>&>(*found);
    check_kind(name, kind_of<T>(), line);
    return lists<T>().emplace_back(Named<T>{std::string(name), {}}).values;
  }
  template <class T>
  static constexpr const char* kind_of() {
    if constexpr (std::is_same_v<T, Variable>) return "Variables";
    else if constexpr (std::is_same_v<T, Operation>) return "Operations";
    else if constexpr (std::is_same_v<T, Tensor>) return "Tensors";
    else return "strings";
  }
  void check_editable(std::string_view name, SourceLine line) const;                // refuses after finalize()
  void check_kind(std::string_view name, const char* kind, SourceLine line) const;  // refuses one name for two types

  friend struct GraphAccess;
  const bool* finalized_ = nullptr;
  Lists<Variable> variables_;
  Lists<Operation> operations_;
  Lists<Tensor> tensors_;
  Lists<std::string> texts_;
};

}  // namespace martello
