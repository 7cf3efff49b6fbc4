#pragma once
#include <martello/ops/internal/naive_lstm.h>

// The obvious GRU, for tests.
namespace martello::testing {

// x and a hold r, u, n.
inline double naive_gru_cell(const double (&x)[3], const double (&a)[3], double h) {
  const double r = naive_sigmoid(x[0] + a[0]), u = naive_sigmoid(x[1] + a[1]);
  return u * h + (1 - u) * std::tanh(x[2] + r * a[2]);
}

// dx, da and dh of a step with these activated gates r, u, n and a_n, from h before it and dh after it.
struct NaiveGruGrad {
  double x[3], a[3], h;
};
inline NaiveGruGrad naive_gru_cell_grad(const double (&gates)[4], double h, double dh) {
  const auto [r, u, n, a] = gates;
  const double d = dh * (1 - u) * (1 - n * n), dr = d * a * r * (1 - r), du = dh * (h - n) * u * (1 - u);
  return {{dr, du, d}, {dr, du, d * r}, dh * u};
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

// dx, da, dh0 from gates [steps, rows, 4 units], y, w, h0, dy, dh and, when there are seven inputs, lengths.
inline HostTensors naive_gru_sequence_grad(const HostTensors& in) {
  const int64_t steps = in[0].shape()[0], rows = in[0].shape()[1], units = in[2].shape()[0];
  HostTensor dx({steps, rows, 3 * units}, f64), da = dx, dh = in[5].cast(f64);
  for (int64_t t = steps; t-- > 0;)
    for (int64_t r = 0; r < rows; ++r) {
      if (in.size() > 6 && t >= static_cast<int64_t>(in[6].at(r))) continue;
      const int64_t row = t * rows + r;
      for (int64_t u = 0; u < units; ++u) {
        const int64_t i = r * units + u, now = row * units + u;
        double gates[4];
        for (int64_t gate = 0; gate < 4; ++gate) gates[gate] = in[0].at((row * 4 + gate) * units + u);
        const double before = t > 0 ? in[1].at(now - rows * units) : in[3].at(i);
        const auto d = naive_gru_cell_grad(gates, before, dh.at(i) + in[4].at(now));
        for (int64_t gate = 0; gate < 3; ++gate) {
          dx.set((row * 3 + gate) * units + u, d.x[gate]);
          da.set((row * 3 + gate) * units + u, d.a[gate]);
        }
        dh.set(i, d.h);
      }
      for (int64_t k = 0; k < units; ++k) {
        double sum = dh.at(r * units + k);
        for (int64_t g = 0; g < 3 * units; ++g) sum += da.at(row * 3 * units + g) * in[2].at(k * 3 * units + g);
        dh.set(r * units + k, sum);
      }
    }
  return {dx, da, dh};
}

}  // namespace martello::testing
