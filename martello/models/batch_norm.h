#pragma once
#include <martello/models/layer.h>
#include <martello/models/opt.h>
#include <martello/ops/data_format.h>

namespace martello {

// Who runs the update of the moving averages: whoever runs kUpdateOps (a trainer does, each step), whoever runs the
// layer's output, or nobody.
enum class EmaUpdate { collection, internal, skip };

struct BatchNorm {
  Opt<bool> training = unset(true);   // unset: what the tower does; false in a training tower: frozen statistics
  Opt<double> momentum = unset(0.9);  // what the old average keeps
  Opt<double> epsilon = unset(1e-5);
  Opt<bool> center = unset(true);
  Opt<bool> scale = unset(true);
  Opt<Initializer> beta_init = unset(Initializer());   // zeros()
  Opt<Initializer> gamma_init = unset(Initializer());  // ones()
  Opt<DataFormat> data_format = unset(DataFormat::nhwc);
  Opt<EmaUpdate> ema_update = unset(EmaUpdate::collection);
  Opt<int> virtual_batch_size = unset(0);    // in training, each so many samples are normalized for themselves
  Opt<bool> sync_statistics = unset(false);  // in training, statistics of all towers; the update is internal
  static void fields(auto&& f, auto&... self) {
    f("training", self.training...);
    f("momentum", self.momentum...);
    f("epsilon", self.epsilon...);
    f("center", self.center...);
    f("scale", self.scale...);
    f("beta_init", self.beta_init...);
    f("gamma_init", self.gamma_init...);
    f("data_format", self.data_format...);
    f("ema_update", self.ema_update...);
    f("virtual_batch_size", self.virtual_batch_size...);
    f("sync_statistics", self.sync_statistics...);
  }
};
// gamma (x - mean) / sqrt(variance + epsilon) + beta per channel of x, [N, C] or images; with statistics of the batch
// in training, else with their moving averages. Variables: beta, gamma, mean/EMA, variance/EMA, all [C]. Of images
// epsilon is at least 1.001e-5 and the average keeps the unbiased variance, as models trained elsewhere expect. Only
// the main training tower updates averages. Needs a tower.
LayerOutput batch_norm(std::string_view name, Tensor x, BatchNorm options = {},
                       SourceLine line = SourceLine::current());

struct BatchRenorm {
  Opt<double> rmax = unset(1.0);  // the correction's scale stays in [1 / rmax, rmax]
  Opt<double> dmax = unset(0.0);  // and its shift in [-dmax, dmax]
  Opt<double> momentum = unset(0.9);
  Opt<double> renorm_momentum = unset(0.99);
  Opt<double> epsilon = unset(1e-5);
  Opt<bool> center = unset(true);
  Opt<bool> scale = unset(true);
  Opt<Initializer> gamma_init = unset(Initializer());  // ones()
  Opt<DataFormat> data_format = unset(DataFormat::nhwc);
  static void fields(auto&& f, auto&... self) {
    f("rmax", self.rmax...);
    f("dmax", self.dmax...);
    f("momentum", self.momentum...);
    f("renorm_momentum", self.renorm_momentum...);
    f("epsilon", self.epsilon...);
    f("center", self.center...);
    f("scale", self.scale...);
    f("gamma_init", self.gamma_init...);
    f("data_format", self.data_format...);
  }
};
// batch_norm whose training output is moved towards what the averages would give, within rmax and dmax. Variables:
// beta, gamma, moving_mean, moving_variance, renorm_mean, renorm_mean_weight, renorm_stddev, renorm_stddev_weight.
// Needs a tower.
LayerOutput batch_renorm(std::string_view name, Tensor x, BatchRenorm options = {},
                         SourceLine line = SourceLine::current());

}  // namespace martello
