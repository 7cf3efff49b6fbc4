#include <martello/train/gan_trainer.h>

#include <martello/base/error.h>
#include <martello/base/log.h>
#include <martello/ops/binary.h>
#include <martello/ops/cast.h>
#include <martello/ops/compare.h>
#include <martello/ops/losses.h>
#include <martello/ops/reduce.h>

namespace martello {

GANLosses gan_losses(Tensor real_logits, Tensor fake_logits) {
  GANLosses losses;
  const Tensor real = reduce_mean(sigmoid_cross_entropy(real_logits, 1), {}, "d_loss_real"),
               fake = reduce_mean(sigmoid_cross_entropy(fake_logits, 0), {}, "d_loss_fake");
  losses.d_loss = multiply(real + fake, 0.5, "d_loss");
  losses.g_loss = reduce_mean(sigmoid_cross_entropy(fake_logits, 1), {}, "g_loss");
  reduce_mean(cast(real_logits > 0, f32), {}, "accuracy_real");
  reduce_mean(cast(fake_logits <= 0, f32), {}, "accuracy_fake");
  return losses;
}

namespace {

CostsFn costs_of(const Ref<GANModelDesc>& model) {
  return [model](TensorList in) -> Costs {
    const GANLosses losses = model->build_graph(std::move(in));
    return {{"g", losses.g_loss}, {"d", losses.d_loss}};
  };
}

CostSpec g_spec(const Ref<GANModelDesc>& model, int64_t every) {
  return {.name = "g",
          .variables = model->g_scope() + "/",
          .optimizer = [model] { return model->optimizer(); },
          .every = every};
}
CostSpec d_spec(const Ref<GANModelDesc>& model, int64_t every) {
  return {.name = "d",
          .variables = model->d_scope() + "/",
          .optimizer = [model] { return model->optimizer(); },
          .every = every};
}

Ref<GANModelDesc> checked(Ref<GANModelDesc> model) {
  MARTELLO_CHECK(model, "[gan] its model is null.");
  return model;
}

}  // namespace

GANTrainer::GANTrainer(Ref<InputSource> input, Ref<GANModelDesc> model, Ref<ParallelMode> mode, SourceLine line)
    : MultiCostTrainer(std::move(mode)) {
  checked(model);
  setup_graph(model->inputs(), std::move(input), costs_of(model), {g_spec(model, 1), d_spec(model, 1)}, line);
}

SeparateGANTrainer::SeparateGANTrainer(Ref<InputSource> input, Ref<GANModelDesc> model, GANPeriods periods,
                                       SourceLine line)
    : MultiCostTrainer(OneTower(), Updates::separate_runs) {
  checked(model);
  setup_graph(model->inputs(), std::move(input), costs_of(model),
              {d_spec(model, periods.d_period), g_spec(model, periods.g_period)}, line);
  if (!graph().collections().get(kUpdateOps).empty())
    logger::warn(
        "[gan] the graph has update ops, which both runs of a step would do. Use .ema_update = internal in "
        "batch_norm.");
}

}  // namespace martello
