#include <martello/runtime/internal/lane.h>

#include <martello/base/error.h>

#include <algorithm>
#include <cstring>

namespace martello {
namespace {
constexpr int kPoison = 0xA5;  // as a float a small negative number, as an index absurd
}

namespace {

SourceLine line_of(const Program& program, const std::string& node) {
  for (const Segment& segment : program.segments)
    for (const auto& steps : segment.steps)
      for (const ProgramStep& step : steps)
        if (step.node == node) return step.line;
  return {};
}

// What is too much, and which tensor of it is the largest.
[[noreturn]] void refuse_arena(const Program& program, size_t device, const Error& reason) {
  const auto& buffers = program.memory.devices[device].buffers;
  const auto is_smaller = [](const PlannedBuffer& a, const PlannedBuffer& b) { return a.bytes < b.bytes; };
  const auto largest = std::max_element(buffers.begin(), buffers.end(), is_smaller);
  InvalidArgument error(
      str("[session] the run needs ", program.arena_bytes[device], " bytes of scratch: ", reason.what()));
  if (largest != buffers.end()) {
    error.add_context(str("most of it, ", largest->bytes, " bytes, is '", largest->tensor,
                          "'. Session::memory_plan() shows the rest; use a smaller batch."));
    error.add_line(line_of(program, largest->tensor.substr(0, largest->tensor.find(':'))));
  }
  throw error;
}

Buffer make_arena(const Program& program, size_t device) try {
  return Buffer(program.arena_bytes[device], Device::parse(program.devices[device]));
} catch (const Error& e) {
  refuse_arena(program, device, e);
}

}  // namespace

void Lane::grow(const Program& program) {
  bool changed = false;
  if (arenas_.size() < program.arena_bytes.size()) arenas_.resize(program.arena_bytes.size());
  for (size_t d = 0; d < program.arena_bytes.size(); ++d) {
    if (arenas_[d] && arenas_[d].size() >= program.arena_bytes[d]) continue;
    arenas_[d] = make_arena(program, d);
    changed = true;
  }
  if (changed) bound_.clear();
}

BoundProgram& Lane::bind(const Plan& plan) {
  grow(*plan.program);
  if (poison_)
    for (const Buffer& arena : arenas_)
      if (arena.size() > 0) std::memset(arena.data(), kPoison, static_cast<size_t>(arena.size()));
  if (bound_.size() > most_bound_ && !bound_.contains(plan.id)) bound_.clear();
  auto& bound = bound_[plan.id];
  if (!bound) {
    std::vector<std::byte*> addresses;
    for (size_t d = 0; d < plan.program->arena_bytes.size(); ++d) addresses.push_back(arenas_[d].data());
    bound = std::make_unique<BoundProgram>(plan.program, std::move(addresses));
    for (size_t i = 0; i < plan.derived.size(); ++i) bound->set_derived(i, *plan.derived[i]);
  }
  return *bound;
}

}  // namespace martello
