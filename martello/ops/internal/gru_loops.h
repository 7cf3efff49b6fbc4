#pragma once
#include <martello/kernel/cpu/isa_levels.h>

#include <stdint.h>

// The loops of gru_cell_isa.cc. Included by ISA sources too, hence C headers only.
namespace martello::cpu {

// Some units of some rows. Parts of a row (r, u, n of x and of what h gives, and one more, the n that h gives, of
// `gates`) lie `part` elements apart, those of `added` `added_part`.
template <class T>
struct GruCells {
  int64_t rows, units;
  int64_t row, x_row, gates_row, part;
  const T* x;
  const T* added;  // what h gives
  int64_t added_row, added_part;
  const T* bias;  // to be added to that, or null
  const T* h;
  T* gates;
  T* next_h;
};

template <class T>
struct GruCellsGrad {
  int64_t rows, units;
  int64_t row, x_row, gates_row, part;
  const T* gates;
  const T* h;
  const T* dnext_h;
  const T* added;  // to dnext_h, or null
  int64_t added_row;
  const T* carried;  // to be added too, or null
  T* dx;
  T* dadded;  // rows of x
  T* dh;      // may be carried
};

template <class T>
struct GruLoops {
  void (*cells)(const GruCells<T>&);
  void (*cells_grad)(const GruCellsGrad<T>&);
};

MARTELLO_PER_ISA(extern const GruLoops<float> gru_loops_f32; extern const GruLoops<double> gru_loops_f64;)

// Those of this machine.
template <class T>
const GruLoops<T>& gru_loops();

}  // namespace martello::cpu
