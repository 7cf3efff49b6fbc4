#include <martello/optim/gradient_processor.h>

#include <martello/base/error.h>
#include <martello/base/log.h>
#include <martello/graph/collections.h>
#include <martello/graph/scopes.h>
#include <martello/ops/binary.h>
#include <martello/ops/cast.h>
#include <martello/ops/check_numerics.h>
#include <martello/ops/concat.h>
#include <martello/ops/control.h>
#include <martello/ops/finite_norm.h>
#include <martello/ops/identity.h>
#include <martello/ops/norms.h>
#include <martello/ops/reduce.h>
#include <martello/ops/summary.h>
#include <martello/ops/unary.h>
#include <martello/optim/wrappers.h>
#include <martello/tower/summary.h>

#include <cmath>

namespace martello {
namespace {

class ProcessGradients : public ProxyOptimizer {
 public:
  ProcessGradients(Ref<Optimizer> optimizer, std::vector<Ref<GradientProcessor>> processors)
      : ProxyOptimizer(std::move(optimizer)), processors_(std::move(processors)) {}

  Operation apply_gradients(const GradVars& grads, Name name) override {
    return with_line(name.line(), [&] {
      GradVars processed = grads;
      for (const auto& p : processors_) {
        NameScope scope(p->name());
        processed = p->process(std::move(processed));
      }
      return ProxyOptimizer::apply_gradients(processed, name);
    });
  }

 private:
  std::vector<Ref<GradientProcessor>> processors_;
};

void check_gradient(const GradVar& gv, const char* who) {
  MARTELLO_CHECK(!gv.grad.is_null(), "[", who, "] variable '", gv.var.handle().name(),
                 "' has a null gradient. Put FilterNoneGrad() first.");
}

Tensor root_mean_square(Tensor g, Name name) { return sqrt(reduce_mean(square(g)), name); }

// In f64, over tensors of both dtypes.
Tensor norm_of_all(const GradVars& grads, bool skip_non_finite) {
  Tensor sum;
  for (DType dtype : {f32, f64}) {
    TensorList alike;
    for (const GradVar& gv : grads)
      if (gv.grad.dtype() == dtype) alike.push_back(gv.grad);
    if (alike.empty()) continue;
    const Tensor squares = square(cast(skip_non_finite ? finite_norm(alike) : global_norm(alike), f64));
    sum = sum.is_null() ? squares : sum + squares;
  }
  return sqrt(sum);
}

}  // namespace

Ref<Optimizer> apply_grad_processors(Ref<Optimizer> optimizer, std::vector<Ref<GradientProcessor>> processors) {
  for (size_t i = 0; i < processors.size(); ++i)
    MARTELLO_CHECK(processors[i], "[apply_grad_processors] processor ", i, " of ", processors.size(), " is null.");
  return ProcessGradients(std::move(optimizer), std::move(processors));
}

GradVars FilterNoneGrad::process(GradVars grads) {
  GradVars kept;
  std::vector<std::string> dropped;
  for (const GradVar& gv : grads) {
    if (gv.grad.is_null()) dropped.push_back(gv.var.handle().name());
    else kept.push_back(gv);
  }
  if (verbose_ && !dropped.empty())
    logger::warn("[filter_none_grad] ", dropped.size(), " variables have no gradient: ", join(dropped), ".");
  return kept;
}

GlobalNormClip::GlobalNormClip(double norm, GlobalNormClipOptions options) : norm_(norm), options_(options) {
  MARTELLO_CHECK(norm > 0 && std::isfinite(norm), "[global_norm_clip] the norm is ", norm,
                 "; it must be greater than 0, and finite. To clip nothing leave it out.");
}

GradVars GlobalNormClip::process(GradVars grads) {
  if (grads.empty()) return grads;
  for (const GradVar& gv : grads) check_gradient(gv, "global_norm_clip");
  const Tensor factor = divide(norm_, maximum(norm_of_all(grads, options_.skip_non_finite), norm_));
  for (GradVar& gv : grads) gv.grad = gv.grad * cast(factor, gv.grad.dtype());
  return grads;
}

MapGradient::MapGradient(Function f, const std::string& regex, int)
    : function_(std::move(f)), pattern_(regex, "map_gradient") {}

GradVars MapGradient::process(GradVars grads) {
  GradVars result;
  bool is_matched = false;
  for (const GradVar& gv : grads) {
    if (!pattern_.matches(gv.var.handle().name())) {
      result.push_back(gv);
      continue;
    }
    is_matched = true;
    const Tensor mapped = function_(gv.grad, gv.var);
    if (!mapped.is_null()) result.push_back({mapped, gv.var});
  }
  if (!is_matched) logger::warn("[map_gradient] no variable matches '", pattern_.text(), "'.");
  return result;
}

ScaleGradient::ScaleGradient(const std::string& regex, double factor, bool verbose)
    : ScaleGradient({{regex, factor}}, verbose) {}

ScaleGradient::ScaleGradient(const std::vector<std::pair<std::string, double>>& factors, bool verbose)
    : verbose_(verbose) {
  for (const auto& [regex, factor] : factors) factors_.emplace_back(NamePattern(regex, "scale_gradient"), factor);
}

double ScaleGradient::factor_of(const Variable& v) const {
  for (const auto& [pattern, factor] : factors_) {
    if (!pattern.matches(v.handle().name())) continue;
    if (verbose_) logger::info("[scale_gradient] '", v.handle().name(), "' is scaled by ", factor, ".");
    return factor;
  }
  return 1;
}

GradVars ScaleGradient::process(GradVars grads) {
  GradVars result;
  for (const GradVar& gv : grads) {
    const double factor = factor_of(gv.var);
    if (factor == 1) result.push_back(gv);
    else if (factor != 0) result.push_back({gv.grad * factor, gv.var});
  }
  return result;
}

GradVars SummaryGradient::process(GradVars grads) {
  const Graph graph = Graph::current();
  for (const GradVar& gv : grads) {
    const std::string variable = gv.var.handle().name(), shown = variable + "-grad", rms = shown + "/rms";
    const bool is_of_another_tower = without_tower_prefix(variable) != variable;
    if (!pattern_.matches(variable) || is_of_another_tower || graph.find_tensor(rms)) continue;
    check_gradient(gv, "summary_gradient");
    GraphScope root(graph);  // named after the variable, wherever the optimizer is called
    graph.collections().add(kSummaries, create_histogram_summary(shown, gv.grad, shown + "/histogram"));
    add_moving_summary(root_mean_square(gv.grad, rms));
  }
  return grads;
}

GradVars PrintGradient::process(GradVars grads) {
  for (GradVar& gv : grads) {
    if (!pattern_.matches(gv.var.handle().name())) continue;
    check_gradient(gv, "print_gradient");
    const Tensor g = gv.grad;
    const Tensor numbers = stack({reduce_mean(g), root_mean_square(g, "rms"), reduce_min(g), reduce_max(g)});
    const std::string message = str("gradient of '", gv.var.handle().name(), "', mean rms min max");
    const ControlDependencies after({print(numbers, {.message = message}).op()});
    gv.grad = identity(g);
  }
  return grads;
}

GradVars CheckGradient::process(GradVars grads) {
  for (GradVar& gv : grads) {
    check_gradient(gv, "check_gradient");
    gv.grad = check_numerics(gv.grad, str("gradient of '", gv.var.handle().name(), "'"));
  }
  return grads;
}

}  // namespace martello
