#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace martello {

// What happens to one element w with gradient g and slots; rate is the learning rate, and every rule that takes a
// gradient first multiplies w by 1 - rate * weight_decay.
enum class UpdateRule : uint8_t {
  gradient_descent,   // w -= rate g
  momentum,           // m = momentum m + g;  w -= rate m
  nesterov,           // m = momentum m + g;  w -= rate (g + momentum m)
  adam,               // m, v: running means of g and g^2, with bias correction;  w -= rate m / (sqrt(v) + epsilon)
  rms_prop,           // v = beta2 v + (1 - beta2) g^2;  m = momentum m + rate g / sqrt(v + epsilon);  w -= m
  centered_rms_prop,  // the same with the variance v - mean(g)^2 under the root
  adagrad,            // a += g^2;  w -= rate g / (sqrt(a) + epsilon)
  adadelta,           // a, d: running means of g^2 and u^2;  u = sqrt(d + epsilon) / sqrt(a + epsilon) g;  w -= rate u
  lion,               // w -= rate sign(beta1 m + (1 - beta1) g);  m = beta2 m + (1 - beta2) g
  lamb,               // r = adam's step + weight_decay w;  w -= rate |w| / |r| r, norms over each variable
  accumulate,         // w = rate g, or 0 when rate is 0
  average,            // w -= rate (w - s), s as the writes before this one left it
  swap,               // w and s trade places
};
std::vector<std::string> enum_names(UpdateRule);

struct UpdateTraits {
  int slots = 0;
  bool takes_gradient = true;
  bool counts_steps = false;
};
UpdateTraits traits_of(UpdateRule rule);

}  // namespace martello
