#pragma once
#include <martello/tower/tower_function.h>
#include <martello/tower/tower_handle.h>

#include <functional>
#include <memory>
#include <string_view>
#include <vector>

namespace martello {

// Throws when a name of a signature is missing, used twice, or has a colon, slash or blank.
void check_signature(const std::vector<TensorSpec>& signature, std::string_view who);

// A tower function with its signature, and the towers it has built. Each call checks the rules of tower functions
// (docs/tower-functions.md) and refuses a violation with the rule's number, the name and the user's line:
//   1 every tower is the same model          4 trainable variables are made by get_variable, so that they can be shared
//   2 only what gradients train is trainable 5 no scope or variable has the word "tower" in its name
//   3 names of trainable variables do not depend on name scopes or tensors
class TowerFunc {
 public:
  using Fn = std::function<TensorList(const TensorList&)>;
  TowerFunc(CostFn function, std::vector<TensorSpec> signature);
  // Of a function with any number of outputs.
  static TowerFunc with_outputs(Fn function, std::vector<TensorSpec> signature);

  // Inside a TowerContext; the outputs of the function.
  TensorList operator()(const TensorList& inputs);
  TowerHandles towers() const { return TowerHandles(towers_); }
  const std::vector<TensorSpec>& input_signature() const { return signature_; }

 private:
  struct Model;  // what every training tower must have

  TowerFunc() = default;
  void check() const;
  TensorList call(const TensorList& inputs) const;

  Fn function_;
  std::vector<TensorSpec> signature_;
  std::vector<TowerHandle> towers_;
  std::shared_ptr<const Model> model_;  // of the first training tower
};

}  // namespace martello
