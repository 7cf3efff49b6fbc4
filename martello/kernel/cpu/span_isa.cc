#include <martello/kernel/cpu/formula_stages_isa.h>
#include <martello/kernel/cpu/span_isa.h>

namespace martello::cpu::MARTELLO_ISA {
namespace {

int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }

void fill(float* p, int64_t n, float value) {
  for (int64_t i = 0; i < n; i += Vec<float>::kLanes) Vec<float>(value).store(p + i);
}
void fill(double* p, int64_t n, double value) {
  for (int64_t i = 0; i < n; i += Vec<double>::kLanes) Vec<double>(value).store(p + i);
}
void fill(uint8_t* p, int64_t n, uint8_t value) { memset(p, value, static_cast<size_t>(n)); }

// Each element `period` times. A fill may run over by a vector; tiles have room for it.
template <class E>
void lay_repeat(const InputPlan& input, const E* x, int64_t period, int64_t e, int64_t n, E* tile) {
  x += e / period * input.step;
  int64_t count = period - e % period;
  for (int64_t i = 0; i < n; x += input.step, count = period) {
    count = smaller(count, n - i);
    fill(tile + i, count, *x);
    i += count;
  }
}

template <class E>
void lay_gather(const InputPlan& input, const E* x, int64_t period, int64_t e, int64_t n, E* tile) {
  x += e / period * input.step;
  int64_t first = e % period;
  for (int64_t i = 0; i < n; x += input.step, first = 0) {
    const int64_t count = smaller(period - first, n - i);
    for (int64_t k = 0; k < count; ++k) tile[i + k] = x[input.offsets[first + k]];
    i += count;
  }
}

template <class T>
class SpanRunner {
 public:
  SpanRunner(const SpanRun& run, char* workspace)
      : run_(run), plan_(*run.plan), code_(run.streaming ? plan_.streaming_code : plan_.code) {
    for (int k = 0; k < plan_.operand_count; ++k) operands_[k] = plan_.operands[k];
    for (int k = 0; k < plan_.slot_count; ++k) operands_[plan_.first_slot + k] = {workspace + k * kSlotBytes, 0};
    for (int k = 0; k < plan_.input_count; ++k) laid_[k] = nullptr;
    pads_ = workspace + plan_.slot_count * kSlotBytes;
    workspace_ = workspace;
  }

  void run(int64_t begin, int64_t end) {
    while (begin < end) {
      const int64_t outer = plan_.outer_rank ? begin / plan_.run : 0, e = begin - (outer ? outer * plan_.run : 0);
      const int64_t n = smaller(end - begin, plan_.run - e);
      set_bases(outer);
      const int64_t most = plan_.tiled ? kTileElements : n;
      for (int64_t done = 0; done < n; done += most) piece(begin + done, e + done, smaller(most, n - done));
      begin += n;
    }
  }

 private:
  static constexpr int64_t kBlock = 8 * Vec<T>::kLanes;

  void set_bases(int64_t outer) {
    for (int k = 0; k < plan_.input_count; ++k) {
      int64_t rest = outer, offset = 0;
      for (int d = plan_.outer_rank - 1; d >= 0; --d) {
        const int64_t next = d ? rest / plan_.outer_sizes[d] : 0;
        offset += (rest - next * plan_.outer_sizes[d]) * plan_.inputs[k].strides[d];
        rest = next;
      }
      bases_[k] = static_cast<const char*>(run_.inputs[k]) + offset * plan_.inputs[k].element_bytes;
    }
  }

  void piece(int64_t begin, int64_t e, int64_t n) {
    for (int k = 0; k < plan_.input_count; ++k) {
      if (plan_.inputs[k].kind == InputKind::dense) {
        operands_[k] = {const_cast<char*>(bases_[k]) + e * plan_.inputs[k].element_bytes, -1};
      } else if (plan_.inputs[k].element_bytes == 1) {
        operands_[k] = lay<uint8_t>(k, e, n);
      } else {
        operands_[k] = lay<T>(k, e, n);
      }
    }
    for (int k = 0; k < plan_.output_count; ++k) {
      char* y = static_cast<char*>(run_.outputs[k]) + (begin - run_.origin) * plan_.output_bytes[k];
      operands_[plan_.first_output + k] = {y, -1};
    }
    elements(n);
  }

  template <class E>
  Operand lay(int k, int64_t e, int64_t n) {
    const InputPlan& input = plan_.inputs[k];
    const E* x = reinterpret_cast<const E*>(bases_[k]);
    E* tile = reinterpret_cast<E*>(workspace_ + input.tile_offset);
    const bool laid = laid_[k] == bases_[k];
    laid_[k] = bases_[k];
    switch (input.kind) {
      case InputKind::dense: break;
      case InputKind::fixed:
        if (!laid) fill(tile, kBlock, *x);
        return {reinterpret_cast<char*>(tile), 0};
      case InputKind::periodic:
        if (!laid) lay_gather(input, x, plan_.period, 0, smaller(kTileElements, plan_.run) + plan_.period, tile);
        return {reinterpret_cast<char*>(tile + e % plan_.period), -1};
      case InputKind::repeat: lay_repeat(input, x, plan_.period, e, n, tile); break;
      case InputKind::gather: lay_gather(input, x, plan_.period, e, n, tile); break;
    }
    return {reinterpret_cast<char*>(tile), -1};
  }

  void elements(int64_t n) {
    int64_t i = 0;
    if (run_.streaming) {
      const auto address = reinterpret_cast<uintptr_t>(operands_[plan_.first_output].base);
      const auto bytes = static_cast<uintptr_t>(plan_.output_bytes[0]);
      i = smaller(n, static_cast<int64_t>((kVecBytes - address % kVecBytes) % kVecBytes / bytes));
      if (i) part(0, i);
    }
    for (; i + kBlock <= n; i += kBlock) block(i);
    if (i < n) part(i, n - i);
  }

  void block(int64_t i) {
    const typename Vec<T>::Native z{};
    reinterpret_cast<StageOf<T>>(code_[0].stage)(z, z, z, z, z, z, z, z, code_, operands_, i);
  }

  // Less than a block: the same code over padded copies, so that tails have the same bits and touch nothing else.
  void part(int64_t i, int64_t n) {
    Operand saved[kMaxOperands];
    for (int k = 0; k < plan_.input_count; ++k) {
      saved[k] = operands_[k];
      if (!saved[k].mask) continue;
      const int64_t bytes = plan_.inputs[k].element_bytes;
      char* pad = pads_ + k * kSlotBytes;
      memset(pad, 0, kSlotBytes);
      memcpy(pad, saved[k].base + i * bytes, static_cast<size_t>(n * bytes));
      operands_[k].base = pad;
    }
    Operand* outputs = operands_ + plan_.first_output;
    Operand* saved_outputs = saved + plan_.input_count;
    for (int k = 0; k < plan_.output_count; ++k) {
      saved_outputs[k] = outputs[k];
      outputs[k].base = pads_ + (plan_.input_count + k) * kSlotBytes;
    }
    block(0);
    for (int k = 0; k < plan_.output_count; ++k) {
      const int64_t bytes = plan_.output_bytes[k];
      memcpy(saved_outputs[k].base + i * bytes, outputs[k].base, static_cast<size_t>(n * bytes));
      outputs[k] = saved_outputs[k];
    }
    for (int k = 0; k < plan_.input_count; ++k) operands_[k] = saved[k];
  }

  const SpanRun& run_;
  const SpanPlan& plan_;
  const Instr* code_;
  char *pads_, *workspace_;
  Operand operands_[kMaxOperands];
  const char* bases_[kMaxOperands];
  const char* laid_[kMaxOperands];
};

}  // namespace

template <class T>
void run_range(const SpanRun& run, int64_t begin, int64_t end) {
  if (begin >= end) return;
  char* workspace =
      static_cast<char*>(__builtin_alloca_with_align(static_cast<size_t>(run.plan->workspace_bytes), 8 * 64));
  SpanRunner<T>(run, workspace).run(begin, end);
  if (run.streaming) _mm_sfence();
}

template void run_range<float>(const SpanRun&, int64_t, int64_t);
template void run_range<double>(const SpanRun&, int64_t, int64_t);

}  // namespace martello::cpu::MARTELLO_ISA
