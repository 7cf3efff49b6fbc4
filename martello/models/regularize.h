#pragma once
#include <martello/ops/variable.h>

#include <string_view>

namespace martello {

// scale sum(w^2) / 2 and scale sum(|w|).
Regularizer l2_regularizer(double scale);
Regularizer l1_regularizer(double scale);

// Sum of f(v), in f32, over trainable variables whose name has a match of the regular expression anywhere (the name
// without its tower). A tower with variables of its own takes those. 0 when nothing matches and in inference. Needs a
// tower; nothing adds it to a cost by itself.
Tensor regularize_cost(std::string_view regex, Regularizer f, Name name = "regularize_cost");
// Sum of kRegularizationLosses, which variables with a regularizer join when they are made.
Tensor regularize_cost_from_collection(Name name = "regularize_cost");

}  // namespace martello
