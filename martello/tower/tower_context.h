#pragma once
#include <martello/base/owned.h>
#include <martello/graph/collections.h>
#include <martello/ops/variable.h>

#include <string>
#include <string_view>
#include <vector>

namespace martello {

struct TowerOptions {
  std::string variable_scope = {};  // a tower with variables of its own: "tower1"
  int index = 0;
  int total = 1;
};

// One copy of the model while it is built: opens the name scope `name` ("": none) and the tower's variable scope, and
// tells layers whether they train. Belongs to the graph that is current when it is made; towers do not nest.
//   TowerContext tower("tower0", true, {.index = 0, .total = 2});
class TowerContext {
 public:
  [[nodiscard]] TowerContext(std::string_view name, bool is_training, TowerOptions options = {},
                             SourceLine line = SourceLine::current());
  // Puts back the collections that this tower may not add to. A trainable variable that it should have shared is an
  // error in the log unless check_variables() has told it before.
  ~TowerContext();
  TowerContext(const TowerContext&) = delete;
  TowerContext& operator=(const TowerContext&) = delete;

  const std::string& name() const { return name_; }
  const std::string& variable_scope() const { return options_.variable_scope; }
  int index() const { return options_.index; }
  int total() const { return options_.total; }
  bool is_training() const { return is_training_; }
  bool is_main_training_tower() const { return is_training_ && options_.index == 0; }
  // False when it shares those of another tower; then it may not make trainable ones.
  bool has_own_variables() const { return has_own_variables_; }

  // What was added to a collection during this tower, in order.
  template <class T>
  std::vector<T> get_collection_in_tower(CollectionKey<T> key) const {
    return added_since(before_, graph_.collections(), key);
  }
  // Throws when this tower made trainable variables that it should have shared, and names them.
  void check_variables() const;
  // `scope` without the name of the tower's variable scope: "tower1/conv1" is "conv1".
  std::string without_tower(std::string_view scope) const;
  Graph graph() const { return graph_; }
  const Collections& collections_before() const { return before_; }

  template <class T>
  static std::vector<T> added_since(const Collections& before, const Collections& now, CollectionKey<T> key) {
    const std::vector<T> old = before.get(key);
    std::vector<T> added;
    for (const T& item : now.get(key)) {
      bool is_old = false;
      for (const T& other : old) is_old = is_old || other == item;
      if (!is_old) added.push_back(item);
    }
    return added;
  }

 private:
  void check_options(SourceLine line) const;
  void open_scopes(SourceLine line);
  void restore_collections();
  std::vector<Variable> unshared_variables() const;

  Graph graph_;
  std::string name_;
  bool is_training_;
  TowerOptions options_;
  bool has_own_variables_;
  Collections before_;  // as they were on entry
  struct Scopes;
  Owned<Scopes> scopes_;
};

// The tower that is being built on this thread in the current graph. get_ throws when there is none; `asker` is who
// needs it, for the text.
TowerContext& get_current_tower_context(std::string_view asker = "get_current_tower_context",
                                        SourceLine line = SourceLine::current());
TowerContext* find_current_tower_context();

// Of the current tower.
template <class T>
std::vector<T> get_collection_in_tower(CollectionKey<T> key, SourceLine line = SourceLine::current()) {
  return get_current_tower_context("get_collection_in_tower", line).get_collection_in_tower(key);
}

}  // namespace martello
