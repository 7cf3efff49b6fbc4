#include "limits.h"
#include "ops.h"
#include "timing.h"

#include <martello/martello.h>

#include <cstdio>
#include <functional>

namespace mt = martello;

namespace bench {
namespace {

constexpr double kMostRatio = 1.3;
constexpr int64_t kWidth = 512, kTables = 95;  // about 25 million parameters, as many variables as a ResNet-50 has

// Gradients are fed, so that a run is the update and nothing else.
struct Model {
  mt::GraphScope graph;
  mt::GradVars grads;
  std::vector<mt::Fetch> feeds;
  std::vector<mt::HostTensor> values;
  int64_t parameters = 0;

  Model() {
    for (int64_t i = 0; i < kTables; ++i) {
      add({kWidth, kWidth}, i);
      add({kWidth}, i);
    }
  }
  void add(mt::Shape shape, int64_t i) {
    const auto name = mt::str(shape.rank() == 1 ? "b" : "w", i);
    auto v = mt::get_variable(name, {.shape = shape, .initializer = mt::ones()});
    auto g = mt::placeholder(shape, mt::f32, name + "_grad");
    grads.push_back({g, v});
    feeds.emplace_back(g);
    values.push_back(mt::HostTensor::full(shape, mt::f32, 0.01));
    parameters += shape.num_elements();
  }
};

struct Work {
  const char* name;
  double moves;  // numbers read and written for each parameter
  std::function<mt::Operation(const mt::GradVars&)> build;
};

std::vector<Work> works() {
  const auto apply = [](auto optimizer) {
    return [optimizer](const mt::GradVars& g) mutable { return optimizer.apply_gradients(g); };
  };
  const auto norm = [](const mt::GradVars& grads) {
    mt::TensorList list;
    for (const mt::GradVar& gv : grads) list.push_back(gv.grad);
    return mt::finite_norm(list).op();
  };
  return {{"sgd", 3, apply(mt::GradientDescent(1e-3))},
          {"momentum", 5, apply(mt::Momentum(1e-3))},
          {"nesterov", 5, apply(mt::Momentum(1e-3, {.nesterov = true}))},
          {"adam", 7, apply(mt::Adam(1e-3))},
          {"adamw", 7, apply(mt::AdamW(1e-3))},
          {"rmsprop", 7, apply(mt::RMSProp(1e-3))},
          {"centered", 9, apply(mt::RMSProp(1e-3, {.centered = true}))},
          {"adagrad", 5, apply(mt::Adagrad(1e-3))},
          {"adadelta", 7, apply(mt::Adadelta(1e-3))},
          {"lion", 5, apply(mt::Lion(1e-4))},
          {"lamb", 10, apply(mt::Lamb(1e-3))},  // its two passes
          {"finite_norm", 1, norm}};
}

}  // namespace

int time_updates(const Options& options) {
  const int threads = options.threads > 0 ? options.threads : mt::default_threads();
  bool is_missed = false;
  for (const Work& work : works()) {
    Model m;
    const mt::Operation update = work.build(m.grads);
    mt::Session session(m.graph.graph(), {.threads = threads});
    auto run = session.prepare(update, m.feeds);
    for (size_t i = 0; i < m.values.size(); ++i) run.feed(i, m.values[i]);
    const double bytes = work.moves * 4 * static_cast<double>(m.parameters);
    const mt::HostTensor moved({static_cast<int64_t>(bytes / 4)}, mt::f32);
    const bool only_reads = work.moves == 1;
    const auto limit = only_reads ? make_read({moved}, threads) : make_copy(moved.num_bytes(), threads);
    const Pair best = best_of_both([&] { run.run(); }, limit);
    const double ratio = best.first / best.second;
    is_missed = is_missed || ratio > kMostRatio;
    std::printf("%-12s %5.1fM parameters %8.2f ms, a %s of its bytes %8.2f ms, ratio %.2f%s\n", work.name,
                static_cast<double>(m.parameters) / 1e6, 1e3 * best.first, only_reads ? "read" : "copy",
                1e3 * best.second, ratio, ratio > kMostRatio ? " !!" : "");
  }
  return is_missed;
}

}  // namespace bench
