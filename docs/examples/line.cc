#include <martello/martello.h>

#include <cstdio>

namespace mt = martello;

int main() {
  mt::GraphScope graph;
  auto x = mt::placeholder({mt::kUnknown, 1}, mt::f32, "x");
  auto y = mt::placeholder({mt::kUnknown, 1}, mt::f32, "y");
  auto w = mt::get_variable("w", {.shape = {1, 1}});
  auto b = mt::get_variable("b", {.shape = {1}, .initializer = mt::zeros()});
  auto loss = mt::reduce_mean(mt::square(mt::matmul(x, w) + b - y), "loss");
  auto train = mt::Momentum(0.05).minimize(loss);

  mt::Session session;
  auto step = session.prepare({train, loss}, {x, y});
  step.feed(0, mt::HostTensor::of<float>({0, 1, 2, 3}, {4, 1}));
  step.feed(1, mt::HostTensor::of<float>({1, 3, 5, 7}, {4, 1}));
  for (int i = 0; i < 300; ++i) step.run();

  std::printf("y = %.2f x + %.2f\n", session.get(w).at(0), session.get(b).at(0));  // y = 2.00 x + 1.00
}
