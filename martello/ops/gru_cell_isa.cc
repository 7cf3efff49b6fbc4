#include <martello/ops/internal/gru_loops.h>
#include <martello/ops/internal/units_isa.h>

namespace martello::cpu::MARTELLO_ISA {
namespace {

template <class T, class Lanes>
Vec<T> from_h(const GruCells<T>& s, Lanes units, int64_t r, int64_t u, int part) {
  const Vec<T> a = units.load(s.added + r * s.added_row + part * s.added_part + u);
  return s.bias ? a + units.load(s.bias + part * s.part + u) : a;
}

// r = sigmoid(x0 + a0), u = sigmoid(x1 + a1), n = tanh(x2 + r a2), next_h = u h + (1 - u) n
template <class T>
void cells(const GruCells<T>& s) {
  for_units<T>(s.rows, s.units, [&](auto units, int64_t row, int64_t at) {
    const T* x = s.x + row * s.x_row + at;
    const Vec<T> r = sigmoid(units.load(x) + from_h(s, units, row, at, 0));
    const Vec<T> u = sigmoid(units.load(x + s.part) + from_h(s, units, row, at, 1));
    const Vec<T> a = from_h(s, units, row, at, 2), n = tanh(units.load(x + 2 * s.part) + r * a);
    T* gates = s.gates + row * s.gates_row + at;
    units.store(gates, r);
    units.store(gates + s.part, u);
    units.store(gates + 2 * s.part, n);
    units.store(gates + 3 * s.part, a);
    units.store(s.next_h + row * s.row + at, u * units.load(s.h + row * s.row + at) + (Vec<T>(1) - u) * n);
  });
}

// d = dnext_h (1 - u) (1 - n^2):
// dx = d a r (1 - r), dnext_h (h - n) u (1 - u), d; dadded the same but d r; dh = dnext_h u
template <class T>
void cells_grad(const GruCellsGrad<T>& s) {
  const Vec<T> one(1);
  for_units<T>(s.rows, s.units, [&](auto units, int64_t row, int64_t at) {
    const T* gates = s.gates + row * s.gates_row + at;
    const Vec<T> r = units.load(gates), u = units.load(gates + s.part), n = units.load(gates + 2 * s.part),
                 a = units.load(gates + 3 * s.part);
    const int64_t of_state = row * s.row + at, of_x = row * s.x_row + at;
    Vec<T> dh = units.load(s.dnext_h + of_state);
    if (s.added) dh = dh + units.load(s.added + row * s.added_row + at);
    if (s.carried) dh = dh + units.load(s.carried + of_state);
    const Vec<T> d = dh * (one - u) * (one - n * n), dr = d * a * r * (one - r);
    const Vec<T> du = dh * (units.load(s.h + of_state) - n) * u * (one - u);
    units.store(s.dx + of_x, dr);
    units.store(s.dx + of_x + s.part, du);
    units.store(s.dx + of_x + 2 * s.part, d);
    units.store(s.dadded + of_x, dr);
    units.store(s.dadded + of_x + s.part, du);
    units.store(s.dadded + of_x + 2 * s.part, d * r);
    units.store(s.dh + of_state, dh * u);
  });
}

}  // namespace

extern const GruLoops<float> gru_loops_f32 = {cells<float>, cells_grad<float>};
extern const GruLoops<double> gru_loops_f64 = {cells<double>, cells_grad<double>};

}  // namespace martello::cpu::MARTELLO_ISA
