#pragma once
#include <martello/ops/optimizer_update.h>

#include <algorithm>

// Where the inputs of an update lie: learning rate, step, gate, then lists of `count` gradients (some of them as two
// factors), variables and slots.
// The sparse form has the indices and rows of one gradient in place of the gradients.
namespace martello::internal {

struct UpdateLayout {
  UpdateTraits traits;
  int64_t count = 0;
  int step = -1, gate = -1;       // -1: there is none
  int gradients = 1;              // the first of them; sparse: the indices
  int variables = 1;              // the first of them
  int inputs = 0;                 // of all kinds
  std::vector<int64_t> products;  // variables whose gradients are two inputs, in order

  UpdateLayout(const OptimizerUpdateAttrs& a, bool is_sparse)
      : traits(traits_of(a.rule)), count(a.count), products(a.products) {
    if (traits.counts_steps) step = gradients++;
    if (a.is_gated) gate = gradients++;
    variables = gradients +
                (is_sparse               ? 2
                 : traits.takes_gradient ? static_cast<int>(count)
                                         : 0) +
                static_cast<int>(products.size());
    inputs = variables + static_cast<int>(count) * (1 + traits.slots);
  }
  // The gradient of variable i, or its first factor, which the second follows.
  int gradient(int64_t i) const {
    const auto before = std::lower_bound(products.begin(), products.end(), i) - products.begin();
    return gradients + static_cast<int>(i) + static_cast<int>(before);
  }
  bool is_product(int64_t i) const { return std::binary_search(products.begin(), products.end(), i); }
  int variable(int64_t i) const { return variables + static_cast<int>(i); }
  int slot(int s, int64_t i) const { return variables + static_cast<int>(count) * (1 + s) + static_cast<int>(i); }
};

std::string rule_name(const OptimizerUpdateAttrs& a);
std::vector<int> input_range(int64_t begin, int64_t count);
// Throws unless scalars, variables and slots are as the rule asks for.
UpdateLayout check_update_layout(const ShapeContext& c, bool is_sparse);
void check_like_variable(const ShapeContext& c, const UpdateLayout& layout, int input, int64_t i, const char* what);
std::vector<int> update_targets(const Attrs& attrs, bool is_sparse);
// `gradients`: as many as there are variables, or indices and rows.
Operation add_update(const OpDef& def, Operand rate, const std::vector<Operand>& gradients, const UpdateGroup& group,
                     OptimizerUpdateAttrs attrs, Name name);

}  // namespace martello::internal
