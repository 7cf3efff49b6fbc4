#include <martello/optim/optimizers.h>

#include <martello/base/error.h>

namespace martello {
namespace {

struct Numbers {
  double momentum = 0, beta1 = 0, beta2 = 0, epsilon = 0;
};

OptimizerUpdateAttrs attrs_of(UpdateRule rule, Numbers n, bool has_corrected_epsilon = false) {
  OptimizerUpdateAttrs a;
  a.rule = rule;
  a.momentum = n.momentum;
  a.beta1 = n.beta1;
  a.beta2 = n.beta2;
  a.epsilon = n.epsilon;
  a.has_corrected_epsilon = has_corrected_epsilon;
  return a;
}

}  // namespace

GradientDescent::GradientDescent(Operand learning_rate)
    : FusedOptimizer(learning_rate, {.title = "GradientDescent",
                                     .attrs = attrs_of(UpdateRule::gradient_descent, {}),
                                     .initial = {},
                                     .takes_rows = true}) {}

Momentum::Momentum(Operand learning_rate, MomentumOptions o)
    : FusedOptimizer(learning_rate, {.title = "Momentum",
                                     .attrs = attrs_of(o.nesterov ? UpdateRule::nesterov : UpdateRule::momentum,
                                                       {.momentum = o.momentum}),
                                     .initial = {0},
                                     .takes_rows = o.lazy}) {}

Adam::Adam(Operand learning_rate, AdamOptions o)
    : FusedOptimizer(learning_rate,
                     {.title = "Adam",
                      .attrs = attrs_of(UpdateRule::adam, {.beta1 = o.beta1, .beta2 = o.beta2, .epsilon = o.epsilon}),
                      .initial = {0, 0},
                      .takes_rows = o.lazy}) {}

AdamW::AdamW(Operand learning_rate, AdamWOptions o)
    : FusedOptimizer(
          learning_rate,
          {.title = "AdamW",
           .attrs = attrs_of(UpdateRule::adam, {.beta1 = o.beta1, .beta2 = o.beta2, .epsilon = o.epsilon}, true),
           .initial = {0, 0},
           .decay = {o.weight_decay, o.no_decay, o.decays}}) {}

RMSProp::RMSProp(Operand learning_rate, RMSPropOptions o)
    : FusedOptimizer(learning_rate,
                     {.title = "RMSProp",
                      .attrs = attrs_of(o.centered ? UpdateRule::centered_rms_prop : UpdateRule::rms_prop,
                                        {.momentum = o.momentum, .beta2 = o.decay, .epsilon = o.epsilon}),
                      .initial = o.centered ? std::vector<double>{1, 0, 0} : std::vector<double>{1, 0}}) {}

Adagrad::Adagrad(Operand learning_rate, AdagradOptions o)
    : FusedOptimizer(learning_rate, {.title = "Adagrad",
                                     .attrs = attrs_of(UpdateRule::adagrad, {.epsilon = o.epsilon}),
                                     .initial = {o.initial_accumulator},
                                     .takes_rows = true}) {
  with_line(learning_rate.line(), [&] {
    MARTELLO_CHECK(o.initial_accumulator >= 0 && o.initial_accumulator + o.epsilon > 0,
                   "[adagrad] initial_accumulator is ", o.initial_accumulator, " and epsilon ", o.epsilon,
                   "; neither may be negative, and not both 0: a gradient of 0 would give 0 / 0.");
  });
}

Adadelta::Adadelta(Operand learning_rate, AdadeltaOptions o)
    : FusedOptimizer(learning_rate, {.title = "Adadelta",
                                     .attrs = attrs_of(UpdateRule::adadelta, {.beta2 = o.rho, .epsilon = o.epsilon}),
                                     .initial = {0, 0}}) {}

Lamb::Lamb(Operand learning_rate, LambOptions o)
    : FusedOptimizer(learning_rate,
                     {.title = "LAMB",
                      .attrs = attrs_of(UpdateRule::lamb, {.beta1 = o.beta1, .beta2 = o.beta2, .epsilon = o.epsilon}),
                      .initial = {0, 0},
                      .decay = {o.weight_decay, o.no_decay, o.decays}}) {}

Lion::Lion(Operand learning_rate, LionOptions o)
    : FusedOptimizer(learning_rate, {.title = "Lion",
                                     .attrs = attrs_of(UpdateRule::lion, {.beta1 = o.beta1, .beta2 = o.beta2}),
                                     .initial = {0},
                                     .decay = {o.weight_decay, o.no_decay, o.decays}}) {}

}  // namespace martello
