#pragma once
#include <martello/tensor/host_tensor.h>

#include <cmath>
#include <vector>

// The obvious LSTM, for tests.
namespace martello::testing {

inline double naive_sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

// h and c after one step of z = [i, j, f, o].
struct NaiveCell {
  double h, c;
};
inline NaiveCell naive_lstm_cell(double i, double j, double f, double o, double c, double forget_bias) {
  const double next = c * naive_sigmoid(f + forget_bias) + naive_sigmoid(i) * std::tanh(j);
  return {std::tanh(next) * naive_sigmoid(o), next};
}

// d z and dc of a step with these activated gates, from c before and after it, dh and dc after it.
struct NaiveCellGrad {
  double z[4], c;
};
inline NaiveCellGrad naive_lstm_cell_grad(const double (&gates)[4], double c, double next_c, double dh, double dc) {
  const auto [i, j, f, o] = gates;
  const double t = std::tanh(next_c), d = dc + dh * o * (1 - t * t);
  return {{d * j * i * (1 - i), d * i * (1 - j * j), d * c * f * (1 - f), dh * t * o * (1 - o)}, d * f};
}

// y, h, c of x [steps, rows, 4 units], w [units, 4 units], h0, c0 and, when there are five inputs, lengths.
inline HostTensors naive_lstm_sequence(const HostTensors& in, double forget_bias) {
  const int64_t steps = in[0].shape()[0], rows = in[0].shape()[1], units = in[1].shape()[0];
  HostTensor y({steps, rows, units}, f64), h = in[2].cast(f64), c = in[3].cast(f64);
  for (int64_t t = 0; t < steps; ++t) {
    const HostTensor before = h;
    for (int64_t r = 0; r < rows; ++r) {
      if (in.size() > 4 && t >= static_cast<int64_t>(in[4].at(r))) continue;
      for (int64_t u = 0; u < units; ++u) {
        double z[4];
        for (int64_t gate = 0; gate < 4; ++gate) {
          z[gate] = in[0].at(((t * rows + r) * 4 + gate) * units + u);
          for (int64_t k = 0; k < units; ++k)
            z[gate] += before.at(r * units + k) * in[1].at((k * 4 + gate) * units + u);
        }
        const NaiveCell cell = naive_lstm_cell(z[0], z[1], z[2], z[3], c.at(r * units + u), forget_bias);
        y.set((t * rows + r) * units + u, cell.h);
        h.set(r * units + u, cell.h);
        c.set(r * units + u, cell.c);
      }
    }
  }
  return {y, h, c};
}

// dx, dh0, dc0 from gates [steps, rows, 4 units], cells, w, c0, dy, dh, dc and, when there are eight inputs, lengths.
inline HostTensors naive_lstm_sequence_grad(const HostTensors& in) {
  const int64_t steps = in[0].shape()[0], rows = in[0].shape()[1], units = in[2].shape()[0];
  HostTensor dx(in[0].shape(), f64), dh = in[5].cast(f64), dc = in[6].cast(f64);
  for (int64_t t = steps; t-- > 0;)
    for (int64_t r = 0; r < rows; ++r) {
      if (in.size() > 7 && t >= static_cast<int64_t>(in[7].at(r))) continue;
      const auto gate_at = [=](int64_t gate, int64_t u) { return ((t * rows + r) * 4 + gate) * units + u; };
      for (int64_t u = 0; u < units; ++u) {
        const int64_t i = r * units + u, now = t * rows * units + i;
        double gates[4];
        for (int64_t gate = 0; gate < 4; ++gate) gates[gate] = in[0].at(gate_at(gate, u));
        const double before = t > 0 ? in[1].at(now - rows * units) : in[3].at(i);
        const auto d = naive_lstm_cell_grad(gates, before, in[1].at(now), dh.at(i) + in[4].at(now), dc.at(i));
        for (int64_t gate = 0; gate < 4; ++gate) dx.set(gate_at(gate, u), d.z[gate]);
        dc.set(i, d.c);
      }
      for (int64_t k = 0; k < units; ++k) {
        double sum = 0;
        for (int64_t g = 0; g < 4 * units; ++g) sum += dx.at(gate_at(0, g)) * in[2].at(k * 4 * units + g);
        dh.set(r * units + k, sum);
      }
    }
  return {dx, dh, dc};
}

}  // namespace martello::testing
