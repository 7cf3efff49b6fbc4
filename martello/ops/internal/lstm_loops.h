#pragma once
#include <martello/kernel/cpu/isa_levels.h>

#include <stdint.h>

// The loops of lstm_cell_isa.cc. Included by ISA sources too, hence C headers only.
namespace martello::cpu {

// Some units of some rows. The gates i, j, f, o of a row lie `gate` elements apart, rows of gates `gates_row`, rows of
// one number per unit `row`.
template <class T>
struct LstmCells {
  int64_t rows, units;
  int64_t row, gates_row, gate;
  double forget_bias;
  const T* z;
  const T* added;  // to z, or null
  int64_t added_row, added_gate;
  const T* c;
  T* gates;  // may be z
  T* next_c;
  T* h;
};

template <class T>
struct LstmCellsGrad {
  int64_t rows, units;
  int64_t row, gates_row, gate;
  const T* gates;
  const T* c;
  const T* next_c;
  const T* dh;
  const T* added;  // to dh, or null
  int64_t added_row;
  const T* dnext_c;
  T* dz;  // may be gates
  T* dc;  // may be dnext_c
};

template <class T>
struct LstmLoops {
  void (*cells)(const LstmCells<T>&);
  void (*cells_grad)(const LstmCellsGrad<T>&);
};

MARTELLO_PER_ISA(extern const LstmLoops<float> lstm_loops_f32; extern const LstmLoops<double> lstm_loops_f64;)

// Those of this machine.
template <class T>
const LstmLoops<T>& lstm_loops();

}  // namespace martello::cpu
