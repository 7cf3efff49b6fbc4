#pragma once
#include <martello/tensor/tensor_spec.h>
#include <martello/tower/tower_context.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace martello {

namespace internal {
// What one call of a tower function left behind.
struct TowerRecord {
  Graph graph;
  std::string name, variable_scope;
  bool is_training = false;
  int index = 0;
  std::vector<TensorSpec> signature;
  TensorList inputs, outputs;
  Collections before, after;  // as they were on entry and on return
};
}  // namespace internal

// A tower that has been built: looks its tensors up by the names that the tower function gave them. A small value that
// keeps the graph alive.
class TowerHandle {
 public:
  explicit TowerHandle(std::shared_ptr<const internal::TowerRecord> record) : record_(std::move(record)) {}

  // `name` in this tower's name scope. A name of the signature means the tensor that was passed for that input; what is
  // no tensor may be a variable. The error has near misses.
  Tensor get_tensor(std::string_view name, SourceLine line = SourceLine::current()) const;
  Tensor operator[](std::string_view name) const { return get_tensor(name, {}); }
  std::optional<Tensor> find_tensor(std::string_view name) const;
  TensorList get_tensors(const std::vector<std::string>& names, SourceLine line = SourceLine::current()) const;
  // `name` in this tower's variable scope.
  Variable get_variable(std::string_view name, SourceLine line = SourceLine::current()) const;
  std::vector<Variable> get_variables(const std::vector<std::string>& names,
                                      SourceLine line = SourceLine::current()) const;
  // What the tower function added, in order; also what was taken back when the tower closed.
  template <class T>
  std::vector<T> get_collection(CollectionKey<T> key) const {
    return TowerContext::added_since(record_->before, record_->after, key);
  }

  const std::string& name() const { return record_->name; }
  const std::string& variable_scope() const { return record_->variable_scope; }
  bool is_training() const { return record_->is_training; }
  int index() const { return record_->index; }
  const TensorList& inputs() const { return record_->inputs; }
  const TensorList& outputs() const { return record_->outputs; }
  Graph graph() const { return record_->graph; }

 private:
  std::optional<Tensor> find_input(std::string_view name) const;
  std::optional<Variable> find_variable(std::string_view name) const;

  std::shared_ptr<const internal::TowerRecord> record_;
};

// The towers of one tower function, in the order in which they were built.
class TowerHandles {
 public:
  TowerHandles() = default;
  explicit TowerHandles(std::vector<TowerHandle> list) : list_(std::move(list)) {}

  size_t size() const { return list_.size(); }
  bool empty() const { return list_.empty(); }
  const TowerHandle& operator[](size_t i) const;               // checked
  const TowerHandle& operator[](std::string_view name) const;  // by tower name; near misses in the message
  const TowerHandle* find(std::string_view name) const;        // null when there is none
  TowerHandles training() const;
  TowerHandles inference() const;
  auto begin() const { return list_.begin(); }
  auto end() const { return list_.end(); }

 private:
  std::vector<TowerHandle> list_;
};

}  // namespace martello
