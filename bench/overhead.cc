#include "ops.h"
#include "timing.h"

#include <martello/martello.h>

#include <cstdio>

namespace mt = martello;

namespace bench {
namespace {

mt::Tensor chain(mt::Tensor x, int nodes) {
  for (int i = 0; i < nodes; ++i) x = x + 1;
  return x;
}

double launch_nanoseconds(int nodes, int threads) {
  mt::GraphScope g;
  auto x = mt::placeholder({}, mt::f32, "x");
  auto y = chain(x, nodes);
  mt::Session session(g.graph(), {.threads = threads, .disabled_passes = {"fuse"}});
  auto run = session.prepare(y, {x});
  run.feed(0, 1.f);
  return 1e9 * best_of([&] { run.run(); }) / nodes;
}

double plan_milliseconds(int nodes, bool is_wide) {
  mt::GraphScope g;
  auto x = mt::placeholder({32, 32}, mt::f32, "x");
  mt::Tensor y;
  if (is_wide) {
    mt::TensorList parts;
    for (int i = 0; i < nodes / 2; ++i) parts.push_back(mt::tanh(x * (1.0 + i)));
    y = mt::add_n(parts);
  } else {
    y = x;
    for (int i = 0; i < nodes / 4; ++i) y = mt::tanh(mt::matmul(y, x) + 0.5) * 2;
  }
  mt::Session session(g.graph());
  const double start = now_seconds();
  session.plan_report(y, {{x, mt::HostTensor({32, 32}, mt::f32)}});
  return 1e3 * (now_seconds() - start);
}

}  // namespace

int time_overhead(const Options& options) {
  const int threads = options.threads > 0 ? options.threads : mt::default_threads();
  const double launch = launch_nanoseconds(1000, threads);
  std::printf("launch overhead, 1,000 scalar adds without fusion: %.1f ns per node (at most 150)\n", launch);
  const double deep = plan_milliseconds(10000, false), wide = plan_milliseconds(10000, true);
  std::printf("planning 10,000 nodes: deep %.0f ms, wide %.0f ms (at most 1000)\n", deep, wide);
  return launch > 150 || deep > 1000 || wide > 1000;
}

}  // namespace bench
