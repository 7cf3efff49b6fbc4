#pragma once
#include <martello/ops/variable.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// What all layers share; a user's own layer is written with it too:
//   Tensor scaled(std::string_view name, Tensor x, Scaled options = {}, SourceLine line = SourceLine::current()) {
//     options = with_arg_scope(std::move(options));
//     return build_layer({.type = "scaled", .name = name, .input = x, .line = line}, [&](LayerScope& layer) {
//       return x * layer.variable("scale", {.shape = {}, .initializer = ones()});
//     });
//   }
namespace martello {

// The variables a layer made or shared, by their name inside the layer: variables["W"]; those of layers inside it too:
// variables["conv1/W"].
class LayerVariables {
 public:
  struct Item {
    std::string name;
    Variable variable;
  };
  Variable operator[](std::string_view name) const;  // throws NotFound with near misses
  std::optional<Variable> find(std::string_view name) const;
  auto begin() const { return items_.begin(); }
  auto end() const { return items_.end(); }
  size_t size() const { return items_.size(); }

 private:
  friend class LayerScope;
  std::string layer_;
  std::vector<Item> items_;
};

// A layer's result: a Tensor that also knows the layer's variables.
//   auto y = mt::conv2d("conv1", x, {.filters = 8});  y.variables()["W"]
class LayerOutput : public Tensor {
 public:
  LayerOutput() = default;
  LayerOutput(Tensor y) : Tensor(y) {}
  LayerOutput(Tensor y, LayerVariables variables);
  const LayerVariables& variables() const;

 private:
  std::shared_ptr<const LayerVariables> variables_;
};

struct LayerCall {
  const char* type = "layer";  // "conv2d": for errors and the log
  std::string_view name = {};
  Tensor input = {};
  SourceLine line = {};
  bool logs_shape = true;
  const char* output = "output";  // name of the result's node; nullptr leaves the body's
};

// A layer while it is built.
class LayerScope {
 public:
  explicit LayerScope(const LayerCall& call);
  // get_variable(), remembered in the result's variables().
  Variable variable(std::string_view name, VariableOptions options);
  // "[conv2d 'res1/conv1'] "
  const std::string& where() const { return where_; }
  // Throws unless x has one of these ranks.
  void check_rank(const Tensor& x, std::initializer_list<int> ranks) const;
  // Dimension `axis` of x, which must be known: `what` is "channels".
  int64_t known_dim(const Tensor& x, int axis, const char* what) const;
  // Throws unless the option is greater than 0.
  void check_positive(const char* option, int64_t value) const;

 private:
  friend LayerOutput build_layer(const LayerCall&, const std::function<Tensor(LayerScope&)>&);
  void add(const std::string& name, Variable v);
  void add_inner(const LayerVariables& inner);
  std::string where_;
  LayerVariables variables_;
};

// Opens variable and name scope `call.name`, gives inner nodes the caller's line, names the layer in errors, names the
// result `<scope>/output` and logs its shape, once per scope of a graph.
LayerOutput build_layer(const LayerCall& call, const std::function<Tensor(LayerScope&)>& body);

// Shapes of layers are no longer logged, in the whole process.
void disable_layer_logging();
void enable_layer_logging();

}  // namespace martello
