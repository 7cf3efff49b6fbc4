#pragma once
#include <martello/ops/internal/naive_lstm.h>

// The obvious GRU, for tests.
namespace martello::testing {

// x and a hold r, u, n.
inline double naive_gru_cell(const double (&x)[3], const double (&a)[3], double h) {
  const double r = naive_sigmoid(x[0] + a[0]), u = naive_sigmoid(x[1] + a[1]);
  return u * h + (1 - u) * std::tanh(x[2] + r * a[2]);
}

// y and h of x [steps, rows, 3 units], w [units, 3 units], b, h0 and, when there are five inputs, lengths.
inline HostTensors naive_gru_sequence(const HostTensors& in) {
  const int64_t steps = in[0].shape()[0], rows = in[0].shape()[1], units = in[1].shape()[0];
  HostTensor y({steps, rows, units}, f64), h = in[3].cast(f64);
  for (int64_t t = 0; t < steps; ++t) {
    const HostTensor before = h;
    for (int64_t i = 0; i < rows * units; ++i) {
      const int64_t r = i / units, u = i % units;
      if (in.size() > 4 && t >= static_cast<int64_t>(in[4].at(r))) continue;
      double x[3], a[3];
      for (int64_t g = 0; g < 3; ++g) {
        x[g] = in[0].at(((t * rows + r) * 3 + g) * units + u);
        a[g] = in[2].at(g * units + u);
        for (int64_t k = 0; k < units; ++k) a[g] += before.at(r * units + k) * in[1].at((k * 3 + g) * units + u);
      }
      h.set(i, naive_gru_cell(x, a, before.at(i)));
      y.set(t * rows * units + i, h.at(i));
    }
  }
  return {y, h};
}

}  // namespace martello::testing
