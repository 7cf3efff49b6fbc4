#include <martello/base/error.h>
#include <martello/kernel/cpu/elementwise_code.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <numeric>

namespace martello::cpu {
namespace {

using Kind = ElementwiseArg::Kind;
constexpr int kNever = -1, kForever = 1 << 30;

// The value of the latest instruction stays in registers. A value that anything but the next instruction wants, or that
// it wants twice, also goes to a slot. With several outputs all of them are stored at the end: an output may lie where
// an input lies that is still to be read.
class CodeBuilder {
 public:
  CodeBuilder(const ElementwiseProgram& program, const Engine& engine, Isa isa)
      : program_(program), engine_(engine), isa_(isa), inputs_(static_cast<int>(program.input_dtypes.size())) {}

  ElementwiseCode build() {
    find_uses();
    collect_constants();
    prepare_inputs();
    for (int k = 0; k < static_cast<int>(program_.instrs.size()); ++k) {
      if (last_use_[static_cast<size_t>(k)] != kNever) add_instr(k);
    }
    store_outputs();
    return finish();
  }

 private:
  struct Emitted {
    Instr instr;
    int output = kNever;  // operand a is this output
  };

  const ElementwiseInstr& instr(int k) const { return program_.instrs[static_cast<size_t>(k)]; }
  std::span<const ElementwiseArg> args(int k) const {
    return {instr(k).args, static_cast<size_t>(instr(k).formula->arity)};
  }

  void find_uses() {
    last_use_.assign(program_.instrs.size(), kNever);
    uses_.assign(program_.instrs.size(), 0);
    for (const ElementwiseOutput& output : program_.outputs) use(output.arg, kForever);
    for (int k = static_cast<int>(program_.instrs.size()) - 1; k >= 0; --k) {
      if (last_use_[static_cast<size_t>(k)] == kNever) continue;
      for (const ElementwiseArg& arg : args(k)) use(arg, k);
    }
  }
  void use(const ElementwiseArg& arg, int by) {
    if (arg.kind != Kind::value) return;
    ++uses_[static_cast<size_t>(arg.index)];
    last_use_[static_cast<size_t>(arg.index)] = std::max(last_use_[static_cast<size_t>(arg.index)], by);
  }

  void collect_constants() {
    for (int k = 0; k < static_cast<int>(program_.instrs.size()); ++k) {
      for (const ElementwiseArg& arg : args(k)) add_constant(arg);
    }
    for (const ElementwiseOutput& output : program_.outputs) add_constant(output.arg);
    first_slot_ = inputs_ + static_cast<int>(constants_.size());
    slots_.assign(program_.instrs.size(), kNever);
  }
  void add_constant(const ElementwiseArg& arg) {
    if (arg.kind == Kind::constant && find_constant(arg.number) == constants_.size()) constants_.push_back(arg.number);
  }
  size_t find_constant(double number) const {  // by bits: 0 and -0 differ, NaN is found
    const auto same = [&](double c) { return std::bit_cast<uint64_t>(c) == std::bit_cast<uint64_t>(number); };
    return static_cast<size_t>(std::find_if(constants_.begin(), constants_.end(), same) - constants_.begin());
  }

  int new_slot() {
    if (free_slots_.empty()) return slot_count_++;
    const int slot = free_slots_.back();
    free_slots_.pop_back();
    return slot;
  }

  // Converted inputs are kept in slots; so are inputs that are outputs as they are, because another output may be
  // stored over them.
  void prepare_inputs() {
    input_slots_.assign(static_cast<size_t>(inputs_), kNever);
    for (int k = 0; k < inputs_; ++k) {
      const bool converted = program_.input_dtypes[static_cast<size_t>(k)] != program_.dtype;
      if (!converted && !(program_.outputs.size() > 1 && is_output(ElementwiseArg::input(k)))) continue;
      const int slot = new_slot();
      if (converted) {
        emit(engine_.load_byte, k, first_slot_ + slot);
        in_registers_ = ElementwiseArg::input(k);
      } else {
        load(ElementwiseArg::input(k));
        emit(engine_.store, first_slot_ + slot, 0);
      }
      input_slots_[static_cast<size_t>(k)] = slot;
    }
  }
  bool is_output(const ElementwiseArg& arg) const {
    return std::any_of(program_.outputs.begin(), program_.outputs.end(), [&](const auto& o) { return o.arg == arg; });
  }

  int operand_of(const ElementwiseArg& arg) const {
    if (arg.kind == Kind::constant) return inputs_ + static_cast<int>(find_constant(arg.number));
    const int slot = (arg.kind == Kind::value ? slots_ : input_slots_)[static_cast<size_t>(arg.index)];
    if (arg.kind == Kind::input && slot == kNever) return arg.index;
    MARTELLO_ASSERT(slot != kNever, "[elementwise] value ", arg.index, " is in no slot.");
    return first_slot_ + slot;
  }

  void emit(Stage stage, int a, int b, const double* p = nullptr, int output = kNever) {
    emitted_.push_back({{stage, a, b, p ? p[0] : 0, p ? p[1] : 0}, output});
  }

  void load(const ElementwiseArg& arg) {
    if (in_registers_ == arg) return;
    emit(engine_.load, operand_of(arg), 0);
    in_registers_ = arg;
  }

  void add_instr(int k) {
    const auto list = args(k);
    const auto found = in_registers_ ? std::find(list.begin(), list.end(), *in_registers_) : list.end();
    const size_t position = found == list.end() ? 0 : static_cast<size_t>(found - list.begin());
    load(list[position]);
    int others[2] = {0, 0};
    for (size_t i = 0, j = 0; i < list.size(); ++i) {
      if (i != position) others[j++] = operand_of(list[i]);
    }
    const Formula& formula = *instr(k).formula;
    emit(engine_.formula_stage(formula.stages[static_cast<int>(isa_)], static_cast<int>(position)), others[0],
         others[1], instr(k).p);
    in_registers_ = ElementwiseArg::value(k);
    for (const ElementwiseArg& arg : list) release(arg, k);
    if (needs_slot(k)) {
      const int slot = slots_[static_cast<size_t>(k)] = new_slot();
      emit(engine_.store, first_slot_ + slot, 0);
    }
  }
  void release(const ElementwiseArg& arg, int k) {
    if (arg.kind != Kind::value || last_use_[static_cast<size_t>(arg.index)] != k) return;
    int& slot = slots_[static_cast<size_t>(arg.index)];
    if (slot != kNever) free_slots_.push_back(slot);
    slot = kNever;
  }
  int next_live(int k) const {
    for (++k; k < static_cast<int>(program_.instrs.size()); ++k) {
      if (last_use_[static_cast<size_t>(k)] != kNever) return k;
    }
    return kForever;  // the outputs
  }
  bool needs_slot(int k) const {
    const int next = next_live(k);
    if (last_use_[static_cast<size_t>(k)] != next) return true;
    return next != kForever && uses_[static_cast<size_t>(k)] > 1;
  }

  void store_outputs() {
    const auto& outputs = program_.outputs;
    std::vector<int> order(outputs.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_partition(order.begin(), order.end(),
                          [&](int k) { return in_registers_ == outputs[static_cast<size_t>(k)].arg; });
    for (int k : order) {
      const ElementwiseOutput& output = outputs[static_cast<size_t>(k)];
      load(output.arg);
      if (output.dtype == program_.dtype) {
        emit(engine_.store, 0, 0, nullptr, k);
      } else if (output.dtype == bf16) {
        emit(engine_.store_bf16, 0, 0, nullptr, k);
      } else {
        if (byte_store_slot_ == kNever) byte_store_slot_ = new_slot();
        emit(output.dtype == boolean ? engine_.store_bool : engine_.store_u8, 0, first_slot_ + byte_store_slot_,
             nullptr, k);
      }
    }
  }
  ElementwiseCode finish() {
    emit(engine_.done, 0, 0);
    ElementwiseCode result;
    result.first_slot = first_slot_;
    result.slot_count = slot_count_;
    result.first_output = first_slot_ + slot_count_;
    for (Emitted& e : emitted_) {
      if (e.output != kNever) e.instr.a = result.first_output + e.output;
      result.code.push_back(e.instr);
      if (e.output != kNever && e.instr.stage == engine_.store_bf16) e.instr.stage = engine_.stream_bf16;
      result.narrow_streaming_code.push_back(e.instr);
      if (e.output != kNever && e.instr.stage == engine_.store) e.instr.stage = engine_.stream;
      result.streaming_code.push_back(e.instr);
    }
    const auto is_narrow = [](const ElementwiseOutput& output) { return output.dtype == bf16; };
    if (std::none_of(program_.outputs.begin(), program_.outputs.end(), is_narrow)) result.narrow_streaming_code.clear();
    result.operands.resize(static_cast<size_t>(result.first_output) + program_.outputs.size());
    MARTELLO_ASSERT(result.operands.size() <= kMaxOperands, "[elementwise] ", result.operands.size(), " operands.");
    fill_constants(result);
    return result;
  }
  void fill_constants(ElementwiseCode& result) const {
    result.constants = Buffer(static_cast<int64_t>(constants_.size()) * kSlotBytes);
    for (size_t c = 0; c < constants_.size(); ++c) {
      char* slot = reinterpret_cast<char*>(result.constants.data()) + static_cast<int64_t>(c) * kSlotBytes;
      const float number = static_cast<float>(constants_[c]);
      const void* from = program_.dtype == f32 ? static_cast<const void*>(&number) : &constants_[c];
      const int64_t bytes = size_of(program_.dtype);
      for (int64_t at = 0; at < kSlotBytes; at += bytes) std::memcpy(slot + at, from, static_cast<size_t>(bytes));
      result.operands[static_cast<size_t>(inputs_) + c].base = slot;
    }
  }

  const ElementwiseProgram& program_;
  const Engine& engine_;
  Isa isa_;
  int inputs_, first_slot_ = 0, slot_count_ = 0, byte_store_slot_ = kNever;
  std::vector<int> last_use_, uses_, slots_, input_slots_, free_slots_;
  std::vector<double> constants_;
  std::vector<Emitted> emitted_;
  std::optional<ElementwiseArg> in_registers_;
};

}  // namespace

ElementwiseCode make_code(const ElementwiseProgram& program, const Engine& engine, Isa isa) {
  return CodeBuilder(program, engine, isa).build();
}

}  // namespace martello::cpu
