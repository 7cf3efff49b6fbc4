#include <martello/kernel/cpu/bf16_isa.h>
#include <martello/kernel/cpu/formula_stages_isa.h>
#include <martello/kernel/cpu/reduce_isa.h>
#include <martello/kernel/cpu/span_isa.h>

// The stages that every program has, and the loop that runs a program over a range.
namespace martello::cpu::MARTELLO_ISA {
namespace {

#define MARTELLO_STAGE(name) \
  template <class T>         \
  void name(MARTELLO_STAGE_PARAMETERS(typename Vec<T>::Native))
#define MARTELLO_EACH_VECTOR(f) f(v0, 0) f(v1, 1) f(v2, 2) f(v3, 3) f(v4, 4) f(v5, 5) f(v6, 6) f(v7, 7)

MARTELLO_STAGE(load) {
  const T* p = operand_at<T>(operands[ip->a], i);
#define MARTELLO_LOAD(x, k) x = Vec<T>::load(p + k * Vec<T>::kLanes).v;
  MARTELLO_EACH_VECTOR(MARTELLO_LOAD)
  MARTELLO_STAGE_NEXT(T);
}

#define MARTELLO_STORE(x, k) Vec<T>(x).store(p + k * Vec<T>::kLanes);
MARTELLO_STAGE(store) {
  T* p = operand_at<T>(operands[ip->a], i);
  MARTELLO_EACH_VECTOR(MARTELLO_STORE)
  MARTELLO_STAGE_NEXT(T);
}

// Streams what is aligned; a buffer that is not is stored through the caches.
MARTELLO_STAGE(stream_out) {
  T* p = operand_at<T>(operands[ip->a], i);
  if (reinterpret_cast<uintptr_t>(p) % kVecBytes == 0) [[likely]] {
#define MARTELLO_STREAM(x, k) stream(p + k * Vec<T>::kLanes, Vec<T>(x));
    MARTELLO_EACH_VECTOR(MARTELLO_STREAM)
  } else {
    MARTELLO_EACH_VECTOR(MARTELLO_STORE)
  }
  MARTELLO_STAGE_NEXT(T);
}

template <class T>
constexpr int kBlock = 8 * Vec<T>::kLanes;

template <class T>
void bytes_to_numbers(const uint8_t* bytes, T* numbers) {
  for (int k = 0; k < kBlock<T>; ++k) numbers[k] = static_cast<T>(static_cast<int>(bytes[k]));
}

template <class T>
void numbers_to_bytes(const T* numbers, uint8_t* bytes) {
  for (int k = 0; k < kBlock<T>; ++k) {
    const T low = numbers[k] > 0 ? numbers[k] : 0;  // NaN becomes 0
    bytes[k] = static_cast<uint8_t>(static_cast<int>(low < 255 ? low : 255));
  }
}

template <class T>
void numbers_to_bools(const T* numbers, uint8_t* bytes) {
  for (int k = 0; k < kBlock<T>; ++k) bytes[k] = numbers[k] != 0;
}

MARTELLO_STAGE(load_byte) {
  // The buffer lies in the slot that the operand is kept in, not here: a local array would cost the tail call.
  T* p = operand_at<T>(operands[ip->b], i);
  bytes_to_numbers(operand_at<uint8_t>(operands[ip->a], i), p);
  MARTELLO_EACH_VECTOR(MARTELLO_LOAD)
  MARTELLO_STAGE_NEXT(T);
}
MARTELLO_STAGE(store_u8) {
  T* p = operand_at<T>(operands[ip->b], i);
  MARTELLO_EACH_VECTOR(MARTELLO_STORE)
  numbers_to_bytes(p, operand_at<uint8_t>(operands[ip->a], i));
  MARTELLO_STAGE_NEXT(T);
}
MARTELLO_STAGE(store_bool) {
  T* p = operand_at<T>(operands[ip->b], i);
  MARTELLO_EACH_VECTOR(MARTELLO_STORE)
  numbers_to_bools(p, operand_at<uint8_t>(operands[ip->a], i));
  MARTELLO_STAGE_NEXT(T);
}
// Of f32 only.
MARTELLO_STAGE(store_narrow) {
  uint16_t* p = operand_at<uint16_t>(operands[ip->a], i);
#define MARTELLO_STORE_BF16(x, k) store_bf16(p + k * Vec<T>::kLanes, to_bf16(x));
  MARTELLO_EACH_VECTOR(MARTELLO_STORE_BF16)
  MARTELLO_STAGE_NEXT(T);
}
MARTELLO_STAGE(stream_narrow) {
  uint16_t* p = operand_at<uint16_t>(operands[ip->a], i);
  if (can_stream_bf16(p)) [[likely]] {
#define MARTELLO_STREAM_BF16(x, k) stream_bf16(p + k * Vec<T>::kLanes, to_bf16(x));
    MARTELLO_EACH_VECTOR(MARTELLO_STREAM_BF16)
  } else {
    MARTELLO_EACH_VECTOR(MARTELLO_STORE_BF16)
  }
  MARTELLO_STAGE_NEXT(T);
}
template <class T>
void done(typename Vec<T>::Native, typename Vec<T>::Native, typename Vec<T>::Native, typename Vec<T>::Native,
          typename Vec<T>::Native, typename Vec<T>::Native, typename Vec<T>::Native, typename Vec<T>::Native,
          const Instr*, const Operand*, int64_t) {}

template <class T>
Stage erased(StageOf<T> stage) {
  return reinterpret_cast<Stage>(stage);
}

Stage stage_f32(const void* stages, int position) {
  return erased<float>(static_cast<const FormulaStages*>(stages)->f32[position]);
}
Stage stage_f64(const void* stages, int position) {
  return erased<double>(static_cast<const FormulaStages*>(stages)->f64[position]);
}

template <class T>
Engine engine_of(Stage (*formula_stage)(const void*, int), Stage store_bf16, Stage stream_bf16) {
  return {kBlock<T>,
          erased<T>(load<T>),
          erased<T>(store<T>),
          erased<T>(stream_out<T>),
          erased<T>(load_byte<T>),
          erased<T>(store_u8<T>),
          erased<T>(store_bool<T>),
          store_bf16,
          stream_bf16,
          erased<T>(done<T>),
          formula_stage,
          run_range<T>,
          reduce_chunk<T>};
}

}  // namespace

Engine engine_f32() {
  return engine_of<float>(stage_f32, erased<float>(store_narrow<float>), erased<float>(stream_narrow<float>));
}
Engine engine_f64() { return engine_of<double>(stage_f64, nullptr, nullptr); }

}  // namespace martello::cpu::MARTELLO_ISA
