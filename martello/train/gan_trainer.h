#pragma once
#include <martello/train/multi_cost_trainer.h>

namespace martello {

struct GANLosses {
  Tensor g_loss;
  Tensor d_loss;
};
// The losses of most GANs from the discriminator's logits of real and generated samples: the discriminator's is the
// mean of both cross entropies, the generator's the cross entropy of taking generated for real. Also gives the tensors
// `accuracy_real` and `accuracy_fake`.
GANLosses gan_losses(Tensor real_logits, Tensor fake_logits);

// A model with a generator and a discriminator, whose variables lie in two scopes.
class GANModelDesc {
 public:
  GANModelDesc() = default;
  GANModelDesc(GANModelDesc&&) = default;
  GANModelDesc(const GANModelDesc&) = default;
  virtual ~GANModelDesc() = default;
  virtual std::vector<TensorSpec> inputs() const = 0;
  virtual GANLosses build_graph(TensorList in) const = 0;
  virtual OptimizerRef optimizer() const = 0;  // called once for each of the two
  virtual std::string g_scope() const { return "gen"; }
  virtual std::string d_scope() const { return "discrim"; }
};

// Every step updates generator and discriminator on the same datapoint.
class GANTrainer : public MultiCostTrainer {
 public:
  GANTrainer(Ref<InputSource> input, Ref<GANModelDesc> model, Ref<ParallelMode> mode = one_tower(),
             SourceLine line = SourceLine::current());
};

struct GANPeriods {
  int64_t d_period = 1;  // the discriminator learns in one step of so many,
  int64_t g_period = 1;  // the generator in one of so many; one of both is 1
};

// Discriminator, then generator, each in a run and on a datapoint of its own, and as often as the periods say.
class SeparateGANTrainer : public MultiCostTrainer {
 public:
  SeparateGANTrainer(Ref<InputSource> input, Ref<GANModelDesc> model, GANPeriods periods = {},
                     SourceLine line = SourceLine::current());
};

}  // namespace martello
