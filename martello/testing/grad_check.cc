#include <martello/testing/grad_check.h>

#include <martello/autodiff/gradients.h>
#include <martello/graph/core_ops.h>
#include <martello/graph/node.h>
#include <martello/runtime/session.h>
#include <martello/testing/internal/compare.h>
#include <martello/testing/op_test.h>

#include <algorithm>
#include <cmath>

namespace martello::testing {
namespace {

constexpr GradientOptions kNullWhenUnconnected = {.unconnected = GradientOptions::Unconnected::null};
constexpr int kDirections = 2;

HostTensors as_f64(HostTensors inputs) {
  for (HostTensor& t : inputs) {
    if (is_floating(t.dtype())) t = t.cast(f64);
  }
  return inputs;
}

TensorList placeholders_for(const HostTensors& inputs) {
  TensorList xs;
  for (size_t i = 0; i < inputs.size(); ++i)
    xs.push_back(placeholder(inputs[i].shape(), inputs[i].dtype(), str("x", i)));
  return xs;
}

TensorList floating(const TensorList& list) {
  TensorList result;
  for (const Tensor& t : list) {
    MARTELLO_CHECK(!t.is_null(), "[check_gradients] build() returned a null Tensor.");
    if (is_floating(t.dtype())) result.push_back(t);
  }
  return result;
}

// Away from zero and of both signs.
HostTensor weights_for(const HostTensor& y, uint64_t seed) {
  HostTensor w = uniform(y.shape(), 0.5, 1.5, seed);
  const HostTensor negative = booleans(y.shape(), seed + 100);
  for (int64_t i = 0; i < w.num_elements(); ++i) w.set(i, negative.at(i) != 0 ? -w.at(i) : w.at(i));
  return w.cast(y.dtype());
}

// Holds one graph: ys = build(xs), and the gradients of sum(y * w).
class GradientCheck {
 public:
  GradientCheck(const Build& build, HostTensors inputs, GradCheckOptions options)
      : inputs_(as_f64(std::move(inputs))), options_(options) {
    GraphScope scope(graph_);
    xs_ = placeholders_for(inputs_);
    ys_ = floating(build(xs_));
    for (const Tensor& y : ys_) {
      const bool is_dynamic = has_dynamic_rows(y);
      MARTELLO_CHECK(!is_dynamic, "[check_gradients] output '", y.name(),
                     "' has a number of rows that depends on data. ", "Reduce it over axis 0 in build().");
    }
  }

  HostTensors weights() {
    Session session(graph_);
    HostTensors result;
    for (const HostTensor& y : session.run(ys_, feeds())) result.push_back(weights_for(y, 7 + result.size()));
    return result;
  }

  void run() {
    const TensorList fx = floating(xs_);
    if (ys_.empty() || fx.empty()) return;
    weights_ = weights();
    const HostTensors gradients = analytic(fx);
    session_ = Session(graph_);
    std::vector<Fetch> feeds(xs_.begin(), xs_.end());
    loss_run_ = session_.prepare(ys_, feeds);
    for (size_t i = 0, f = 0; i < xs_.size(); ++i) {
      if (is_floating(xs_[i].dtype())) check_input(i, gradients[f++]);
    }
  }

 private:
  Feeds feeds() const {
    Feeds list;
    for (size_t i = 0; i < xs_.size(); ++i) list.push_back({xs_[i], inputs_[i]});
    return list;
  }

  // Zeros where nothing depends on an input.
  HostTensors analytic(const TensorList& fx) {
    TensorList dxs;
    {
      GraphScope scope(graph_);
      TensorList dys;
      for (const HostTensor& w : weights_) dys.push_back(constant(w, "weights"));
      dxs = gradients(ys_, fx, dys, kNullWhenUnconnected);
    }
    Session session(graph_);
    HostTensors result;
    for (size_t i = 0; i < dxs.size(); ++i) {
      const HostTensor dx = dxs[i].is_null() ? HostTensor(fx[i].shape(), fx[i].dtype()) : session.eval(dxs[i], feeds());
      MARTELLO_CHECK(dx.shape() == fx[i].shape(), "[check_gradients] the gradient of '", fx[i].name(), "' has shape ",
                     dx.shape(), ", the input ", fx[i].shape(), ".");
      result.push_back(dx);
    }
    return result;
  }

  // sum(y * w), and as `magnitude` the sum of absolute values, which bounds its rounding.
  double loss(const HostTensors& inputs, double& magnitude) {
    for (size_t i = 0; i < inputs.size(); ++i) loss_run_.feed(i, inputs[i]);
    loss_run_.run();
    long double sum = 0;
    magnitude = 0;
    for (size_t k = 0; k < ys_.size(); ++k) {
      const HostTensor& y = loss_run_.value(k);
      for (int64_t i = 0; i < y.num_elements(); ++i) {
        const double term = y.at(i) * weights_[k].at(i);
        sum += term;
        magnitude += std::abs(term);
      }
    }
    return static_cast<double>(sum);
  }

  // Compares the slope along `direction` with its finite difference.
  void check_direction(size_t input, const HostTensor& direction, double step, double slope, const std::string& what) {
    double magnitude = 0;
    const auto at = [&](double distance) {
      HostTensors moved = inputs_;
      for (int64_t i = 0; i < direction.num_elements(); ++i) {
        if (direction.at(i) != 0) moved[input].set(i, moved[input].at(i) + distance * direction.at(i));
      }
      return loss(moved, magnitude);
    };
    const double difference = (at(step) - at(-step)) / (2 * step);
    const double rounding = 1e-15 * magnitude / step;
    const double allowed = options_.tolerance * std::max({1.0, std::abs(slope), std::abs(difference)}) + rounding;
    MARTELLO_CHECK(std::abs(slope - difference) <= allowed, "[check_gradients] input ", input, " ",
                   inputs_[input].dtype(), inputs_[input].shape(), " ", what, ": the gradient is ", slope,
                   ", the finite difference ", difference, " (step ", step, ", allowed ", allowed, ").");
  }

  void check_element(size_t input, const HostTensor& gradient, int64_t i) {
    HostTensor direction(gradient.shape(), f64);
    direction.set(i, 1);
    const double step = options_.step * std::max(1.0, std::abs(inputs_[input].at(i)));
    check_direction(input, direction, step, gradient.at(i), str("at ", index_text(i, gradient.shape())));
  }

  void check_input(size_t input, const HostTensor& gradient) {
    const int64_t count = gradient.num_elements();
    if (count <= options_.most_elements) {
      for (int64_t i = 0; i < count; ++i) check_element(input, gradient, i);
      return;
    }
    const HostTensor sample = integers({options_.most_elements / 2}, 0, count, i64, 11);
    for (int64_t i = 0; i < sample.num_elements(); ++i)
      check_element(input, gradient, static_cast<int64_t>(sample.at(i)));
    for (int k = 0; k < kDirections; ++k) {
      const HostTensor direction = uniform(gradient.shape(), -1, 1, static_cast<uint64_t>(23 + k));
      double slope = 0;
      for (int64_t i = 0; i < count; ++i) slope += gradient.at(i) * direction.at(i);
      check_direction(input, direction, options_.step, slope, str("along random direction ", k));
    }
  }

  Graph graph_;
  HostTensors inputs_, weights_;
  GradCheckOptions options_;
  TensorList xs_, ys_;
  Session session_ = nullptr;
  PreparedRun loss_run_;
};

}  // namespace

void check_gradients(const std::function<TensorList(TensorList)>& build, const HostTensors& inputs,
                     GradCheckOptions options) {
  GradientCheck(build, inputs, options).run();
  if (!options.second_order) return;
  options.second_order = false;
  const HostTensors weights = GradientCheck(build, inputs, options).weights();
  const auto first_order = [&](TensorList xs) {
    const TensorList ys = floating(build(xs));
    TensorList dys, connected;
    for (const HostTensor& w : weights) dys.push_back(constant(w, "weights"));
    for (const Tensor& dx : gradients(ys, floating(xs), dys, kNullWhenUnconnected)) {
      if (!dx.is_null()) connected.push_back(dx);
    }
    return connected;
  };
  try {
    check_gradients(first_order, inputs, options);
  } catch (Error& error) {
    error.add_context("while checking the gradient of the gradient");
    throw;
  }
}

}  // namespace martello::testing
