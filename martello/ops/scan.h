#pragma once
#include <martello/graph/op_def.h>
#include <martello/graph/subgraph.h>

#include <functional>
#include <vector>

namespace martello {

struct ScanStep {
  TensorList carried;  // what the next step gets
  TensorList ys;       // what this step gives
};
struct ScanOptions {
  bool reverse = false;  // from the last row to the first
  int64_t steps = -1;    // needed where there are no xs
};
// A loop in the graph: `body` is built once and runs for each row t of the first dimension of all xs, from `first` on.
// `carried` is what the last step gave (`first` when there are no steps), ys[t] what step t gave.
//   auto [sum, sums] = scan([](TensorList c, TensorList x) { return ScanStep{c[0] + x[0], c[0]}; }, {zero}, {xs});
// Carried tensors keep dtype and shape. The body may use any tensor of the graph around it; it cannot write variables.
// Its random numbers differ from step to step. The gradient goes backward over the steps, and computes each again from
// what was carried into it, which is kept.
ScanStep scan(const std::function<ScanStep(TensorList carried, TensorList xs)>& body, TensorList first, TensorList xs,
              ScanOptions options = {}, Name name = "scan");

struct ScanAttrs {
  Subgraph body;  // carried, a row of each x, captures -> carried, ys
  int64_t carried = 0;
  int64_t xs = 0;
  int64_t steps = -1;  // where there are no xs
  bool reverse = false;
  std::vector<int64_t> counters = {};  // inputs that count random numbers
  bool operator==(const ScanAttrs&) const = default;
  static void fields(auto& self, auto&& f) {
    f("body", self.body);
    f("carried", self.carried);
    f("xs", self.xs);
    f("steps", self.steps);
    f("reverse", self.reverse);
    f("counters", self.counters);
  }
};
// Outputs: what was carried out of the last step; what was carried into each step, along a new first dimension; ys.
extern const OpDef op_scan;

}  // namespace martello
