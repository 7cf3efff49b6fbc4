#pragma once
#include <martello/base/state.h>
#include <martello/loop/monitor.h>

#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace martello::internal {

// Scalars that wait to be written as one row; of one name the last value stays. Names are kept from row to row, so that
// a scalar which came before allocates nothing.
class PendingScalars {
 public:
  struct Scalar {
    std::string name;
    double value = 0;
    ScalarClass kind = ScalarClass::run;
    bool is_pending = false;
  };

  void put(std::string_view name, double value, ScalarClass kind = ScalarClass::run) {
    Scalar& scalar = slot(name);
    if (!scalar.is_pending) order_.push_back(static_cast<size_t>(&scalar - slots_.data()));
    scalar.value = value;
    scalar.kind = kind;
    scalar.is_pending = true;
  }
  bool empty() const { return order_.empty(); }
  size_t size() const { return order_.size(); }
  // In the order in which they came.
  const Scalar& operator[](size_t i) const { return slots_[order_[i]]; }
  void state(State& s) {
    std::vector<std::string> names;
    std::vector<double> values;
    std::vector<int64_t> kinds;
    for (size_t i : order_) {
      names.push_back(slots_[i].name);
      values.push_back(slots_[i].value);
      kinds.push_back(static_cast<int64_t>(slots_[i].kind));
    }
    s("names", names);
    s("values", values);
    s("kinds", kinds);
    if (!s.restoring()) return;
    clear();
    for (size_t i = 0; i < names.size(); ++i) put(names[i], values.at(i), static_cast<ScalarClass>(kinds.at(i)));
  }
  void clear() {
    for (size_t i : order_) slots_[i].is_pending = false;
    order_.clear();
  }

 private:
  struct HashOfText {
    using is_transparent = void;
    size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
  };
  Scalar& slot(std::string_view name) {
    const auto found = index_.find(name);
    if (found != index_.end()) return slots_[found->second];
    index_.emplace(name, slots_.size());
    return slots_.emplace_back(Scalar{std::string(name)});
  }

  std::vector<Scalar> slots_;
  std::vector<size_t> order_;
  std::unordered_map<std::string, size_t, HashOfText, std::equal_to<>> index_;
};

}  // namespace martello::internal
