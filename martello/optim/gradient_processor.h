#pragma once
#include <martello/base/name_pattern.h>
#include <martello/optim/optimizer.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

// What happens to gradients between their computation and the update. Regular expressions match whole variable names.
namespace martello {

class GradientProcessor {
 public:
  virtual ~GradientProcessor() = default;
  virtual GradVars process(GradVars grads) = 0;
  virtual std::string name() const = 0;  // of the scope in which process() is called
};

// `optimizer` with gradients that pass these processors, in order, each time it applies them: after towers and ranks
// have been averaged.
Ref<Optimizer> apply_grad_processors(Ref<Optimizer> optimizer, std::vector<Ref<GradientProcessor>> processors);

// Leaves out variables without a gradient.
class FilterNoneGrad : public GradientProcessor {
 public:
  explicit FilterNoneGrad(bool verbose = true) : verbose_(verbose) {}
  GradVars process(GradVars grads) override;
  std::string name() const override { return "FilterNoneGrad"; }

 private:
  bool verbose_;
};

struct GlobalNormClipOptions {
  bool skip_non_finite = false;  // the read that finds the norm also looks for NaN and Inf: see SkipNonFinite
};
// All scaled by norm / max(norm, global norm).
class GlobalNormClip : public GradientProcessor {
 public:
  explicit GlobalNormClip(double norm, GlobalNormClipOptions options = {});
  GradVars process(GradVars grads) override;
  std::string name() const override { return "GlobalNormClip"; }

 private:
  double norm_;
  GlobalNormClipOptions options_;
};

// f(grad) or f(grad, var) for variables that match; a null result leaves the variable out of the update.
class MapGradient : public GradientProcessor {
 public:
  template <class F>
  requires(std::invocable<const F&, Tensor, Variable>) explicit MapGradient(F f, std::string regex = ".*")
      : MapGradient(Function(std::move(f)), regex, 0) {}
  template <class F>
  requires(std::invocable<const F&, Tensor> &&
           !std::invocable<const F&, Tensor, Variable>) explicit MapGradient(F f, std::string regex = ".*")
      : MapGradient(Function([f](Tensor g, const Variable&) -> Tensor { return f(g); }), regex, 0) {}
  GradVars process(GradVars grads) override;
  std::string name() const override { return "MapGradient"; }

 private:
  using Function = std::function<Tensor(Tensor, Variable)>;
  MapGradient(Function f, const std::string& regex, int);
  Function function_;
  NamePattern pattern_;
};

// Multiplies by the factor of the first expression that matches; 0 leaves the variable out of the update.
class ScaleGradient : public GradientProcessor {
 public:
  explicit ScaleGradient(const std::string& regex, double factor, bool verbose = true);
  explicit ScaleGradient(const std::vector<std::pair<std::string, double>>& factors, bool verbose = true);
  GradVars process(GradVars grads) override;
  std::string name() const override { return "ScaleGradient"; }

 private:
  double factor_of(const Variable& v) const;
  std::vector<std::pair<NamePattern, double>> factors_;
  bool verbose_;
};

// Summaries of each gradient, once per variable: the histogram `W-grad` and a moving average of its root mean square,
// `W-grad/rms`. Variables of a tower's own are left out.
class SummaryGradient : public GradientProcessor {
 public:
  explicit SummaryGradient(const std::string& regex = ".*") : pattern_(regex, "summary_gradient") {}
  GradVars process(GradVars grads) override;
  std::string name() const override { return "SummaryGradient"; }

 private:
  NamePattern pattern_;
};

// Writes mean, root mean square, least and largest element of each gradient to the log in every step.
class PrintGradient : public GradientProcessor {
 public:
  explicit PrintGradient(const std::string& regex = ".*") : pattern_(regex, "print_gradient") {}
  GradVars process(GradVars grads) override;
  std::string name() const override { return "PrintGradient"; }

 private:
  NamePattern pattern_;
};

// A run in which a gradient has a NaN or an infinity fails, with the name of the variable. (SkipNonFinite goes on.)
class CheckGradient : public GradientProcessor {
 public:
  GradVars process(GradVars grads) override;
  std::string name() const override { return "CheckGradient"; }
};

}  // namespace martello
