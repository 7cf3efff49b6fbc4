#pragma once
#include <martello/graph/graph.h>
#include <martello/tensor/host_tensor.h>
#include <martello/tensor/tensor_spec.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace martello {

// A graph as an attribute (the branches of cond, the body of scan, a variable's initializer). Inputs are `arg` nodes;
// captures of outer tensors become inputs too, after the declared ones. Immutable, shared by copies.
class Subgraph {
 public:
  Subgraph() = default;
  Subgraph(Graph graph, TensorList inputs, TensorList outputs);
  bool is_null() const { return body_ == nullptr; }
  const Graph& graph() const;
  const TensorList& inputs() const;
  const TensorList& outputs() const;
  bool operator==(const Subgraph& other) const;  // same text

 private:
  struct Body;
  std::shared_ptr<const Body> body_;
};

struct BuiltSubgraph {
  Subgraph body;
  TensorList captures;  // tensors of the outer graph, in the order of the inputs after the declared ones
};

// Runs `build` in a new graph below the current one. A tensor of the current graph (or of one above it) used inside is
// captured.
BuiltSubgraph build_subgraph(const std::vector<TensorSpec>& args, const std::function<TensorList(TensorList)>& build);

// A C++ function as an attribute (host_call, custom gradients): compared and printed by name, never by content.
class HostFunction {
 public:
  using Fn = std::function<HostTensors(const HostTensors&)>;
  HostFunction() = default;
  HostFunction(std::string name, Fn fn);
  const std::string& name() const { return name_; }
  bool is_null() const { return fn_ == nullptr; }
  const Fn& fn() const { return *fn_; }
  bool operator==(const HostFunction& o) const { return name_ == o.name_ && fn_ == o.fn_; }

 private:
  std::string name_;
  std::shared_ptr<const Fn> fn_;
};

// Text names a host function; parse_graph() finds it when it was registered. The last one of a name counts.
//   register_host_function({"load_image", load_image});
void register_host_function(const HostFunction& function);
std::optional<HostFunction> find_host_function(std::string_view name);

}  // namespace martello
