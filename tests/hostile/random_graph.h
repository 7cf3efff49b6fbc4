#pragma once
#include "hostile.h"

#include <functional>
#include <span>
#include <string>
#include <vector>

namespace martello::testing {

// A graph of 3 to 12 random nodes in the current GraphScope, with feeds, fetches and perhaps gradients. The same number
// gives the same graph.
class RandomGraph {
 public:
  explicit RandomGraph(uint64_t number);

  const Fetches& fetches() const { return fetches_; }
  const Feeds& feeds() const { return feeds_; }
  const std::vector<Variable>& variables() const { return variables_; }
  bool has_gradients() const { return has_gradients_; }
  bool is_large() const { return is_large_; }

  // For builders. Often one of the last tensors, so that chains form.
  Dice& dice() { return dice_; }
  Tensor any_tensor();
  Tensor any_floating();  // cast when need be
  Variable any_variable();
  void add(const TensorList& made);
  void add(Operation made) { operations_.push_back(made); }

 private:
  void add_input();
  void add_node();
  bool try_op(const OpDef& op);
  bool try_builder();
  void add_gradients();
  void choose_fetches();
  Shape any_shape();
  void check_size();

  Dice dice_;
  DType usual_ = f32;
  Shape last_shape_;
  std::vector<Tensor> tensors_, inputs_;
  std::vector<Variable> variables_;
  std::vector<Operation> operations_;
  Fetches fetches_;
  Feeds feeds_;
  bool has_gradients_ = false, is_large_ = false;
};

// What chance alone would hardly put together: a use of ops that makes sense, on tensors of the graph.
using Builder = void (*)(RandomGraph&);
std::span<const Builder> random_builders();

struct RandomGraphCounts {
  int64_t graphs = 0;
  int64_t ran = 0;             // gave values
  int64_t differentiated = 0;  // with gradients among them
};

// Builds the graph of this number, differentiates it where possible, plans it and runs it twice, fused and unfused:
// values and variables with the same bits, or an Error from both.
void run_random_graph(uint64_t number, RandomGraphCounts& counts);

// As many as MARTELLO_RANDOM_GRAPHS says, else `count`, from number MARTELLO_RANDOM_FIRST on.
RandomGraphCounts run_random_graphs(int64_t count);

}  // namespace martello::testing
