#include <martello/ops/internal/lstm_loops.h>
#include <martello/ops/internal/units_isa.h>

namespace martello::cpu::MARTELLO_ISA {
namespace {

template <class T, class Lanes>
Vec<T> gate_of(const LstmCells<T>& s, Lanes units, int64_t r, int64_t u, int gate) {
  const Vec<T> z = units.load(s.z + r * s.gates_row + gate * s.gate + u);
  return s.added ? z + units.load(s.added + r * s.added_row + gate * s.added_gate + u) : z;
}

// next_c = c f + i j, h = tanh(next_c) o
template <class T>
void cells(const LstmCells<T>& s) {
  const Vec<T> forget_bias(s.forget_bias);
  for_units<T>(s.rows, s.units, [&](auto units, int64_t r, int64_t u) {
    const Vec<T> i = sigmoid(gate_of(s, units, r, u, 0)), j = tanh(gate_of(s, units, r, u, 1));
    const Vec<T> f = sigmoid(gate_of(s, units, r, u, 2) + forget_bias), o = sigmoid(gate_of(s, units, r, u, 3));
    const Vec<T> c = units.load(s.c + r * s.row + u) * f + i * j;
    T* gates = s.gates + r * s.gates_row + u;
    units.store(gates, i);
    units.store(gates + s.gate, j);
    units.store(gates + 2 * s.gate, f);
    units.store(gates + 3 * s.gate, o);
    units.store(s.next_c + r * s.row + u, c);
    units.store(s.h + r * s.row + u, tanh(c) * o);
  });
}

// t = tanh(next_c), d = dnext_c + dh o (1 - t^2):
// dz = d j i (1 - i), d i (1 - j^2), d c f (1 - f), dh t o (1 - o); dc = d f
template <class T>
void cells_grad(const LstmCellsGrad<T>& s) {
  const Vec<T> one(1);
  for_units<T>(s.rows, s.units, [&](auto units, int64_t r, int64_t u) {
    const T* gates = s.gates + r * s.gates_row + u;
    const Vec<T> i = units.load(gates), j = units.load(gates + s.gate), f = units.load(gates + 2 * s.gate),
                 o = units.load(gates + 3 * s.gate);
    const int64_t at = r * s.row + u;
    Vec<T> dh = units.load(s.dh + at);
    if (s.added) dh = dh + units.load(s.added + r * s.added_row + u);
    const Vec<T> t = tanh(units.load(s.next_c + at)), d = units.load(s.dnext_c + at) + dh * o * (one - t * t);
    T* dz = s.dz + r * s.gates_row + u;
    units.store(dz, d * j * i * (one - i));
    units.store(dz + s.gate, d * i * (one - j * j));
    units.store(dz + 2 * s.gate, d * units.load(s.c + at) * f * (one - f));
    units.store(dz + 3 * s.gate, dh * t * o * (one - o));
    units.store(s.dc + at, d * f);
  });
}

}  // namespace

extern const LstmLoops<float> lstm_loops_f32 = {cells<float>, cells_grad<float>};
extern const LstmLoops<double> lstm_loops_f64 = {cells<double>, cells_grad<double>};

}  // namespace martello::cpu::MARTELLO_ISA
