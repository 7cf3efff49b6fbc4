#pragma once
#include <martello/graph/tensor.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace martello {

class Collections;

// Owns its operations. A cheap handle (shared): trainers, sessions and predictors keep their graph alive. Built by one
// thread at a time; once finalized it may be read by many.
class Graph {
 public:
  Graph();
  // Of the innermost GraphScope of this thread; throws when none is open.
  static Graph current();
  static Graph current_or_new();

  // "conv1/W", "split:1". get_ throws NotFound with near misses.
  Tensor get_tensor(std::string_view name, SourceLine line = SourceLine::current()) const;
  std::optional<Tensor> find_tensor(std::string_view name) const;
  Operation get_operation(std::string_view name, SourceLine line = SourceLine::current()) const;
  std::optional<Operation> find_operation(std::string_view name) const;
  std::vector<Operation> operations() const;  // in creation order
  size_t size() const;

  // Any later edit throws FailedPrecondition.
  void finalize();
  bool is_finalized() const;

  // All random ops and initializers derive from it. Set before the first random op.
  void set_seed(uint64_t seed, SourceLine line = SourceLine::current());
  uint64_t seed() const;

  Collections& collections() const;

  // One line per node; parse_graph() reads it back to the same graph.
  std::string text() const;
  // Graphviz.
  std::string dot() const;

  bool operator==(const Graph& other) const { return impl_ == other.impl_; }
  struct Impl;
  Impl& impl() const { return *impl_; }
  explicit Graph(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}

 private:
  std::shared_ptr<Impl> impl_;
};

// The graph of a text, with the names of unknown ops, bad shapes and undefined inputs in the error, with line numbers.
Graph parse_graph(std::string_view text);

}  // namespace martello
