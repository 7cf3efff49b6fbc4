#pragma once
#include <martello/tower/tower_context.h>

#include <string>
#include <vector>

namespace martello::internal {

// A trainable variable as a tower asked for it, without the tower's own prefix.
struct AskedVariable {
  std::string name;
  DType dtype;
  Shape shape;
  SourceLine line;
};

// A node that an output of a tower is computed from.
struct ModelNode {
  std::string name;
  std::string op;
  SourceLine line;
};

// What must be the same in every training tower.
struct TowerModel {
  std::string tower;
  std::vector<AskedVariable> variables;   // in the order of the first request
  std::vector<ModelNode> nodes;           // in the order of creation
  std::vector<std::string> input_shapes;  // as text, in which all unknown sizes are alike
  size_t num_outputs = 0;
};

// Watches one call of a tower function: rules 2, 3 and 5 are checked where a variable is asked for, the others at the
// end.
class TowerRules {
 public:
  explicit TowerRules(const TowerContext& tower);
  TowerModel finish(const TensorList& inputs, const TensorList& outputs);

 private:
  Variable on_variable(const NextGetter& next, const std::string& full_name, const VariableOptions& options);
  void check_name(const std::string& full_name, const VariableOptions& options) const;
  void check_update_ops() const;
  void check_raw_variables() const;
  void check_scopes() const;

  const TowerContext& tower_;
  size_t first_node_;
  std::vector<AskedVariable> asked_;
  std::vector<Tensor> shared_;  // handles that came through get_variable
  VariableGetterScope getter_;
};

// Rule 1.
void check_same_model(const TowerModel& first, const TowerModel& other);

}  // namespace martello::internal
