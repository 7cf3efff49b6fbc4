#pragma once
#include <martello/optim/optimizer.h>
#include <martello/tower/tower_context.h>

#include <vector>

namespace martello {

// A model as a class: what it takes and how one copy of it is built. All const, because a tower function is called once
// per tower and keeps no state.
class ModelDescBase {
 public:
  ModelDescBase() = default;
  ModelDescBase(ModelDescBase&&) = default;
  ModelDescBase(const ModelDescBase&) = default;
  virtual ~ModelDescBase() = default;
  virtual std::vector<TensorSpec> inputs() const = 0;
  // The scalar cost, regularization included, in training; in inference what it returns is not used.
  virtual Tensor build_graph(TensorList in) const = 0;

 protected:
  // Of the tower being built; an error outside one.
  bool training() const { return get_current_tower_context("ModelDesc::training").is_training(); }
};

class ModelDesc : public ModelDescBase {
 public:
  virtual OptimizerRef optimizer() const = 0;  // called once, in the first tower
};

}  // namespace martello
