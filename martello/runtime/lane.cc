#include <martello/runtime/internal/lane.h>

#include <cstring>

namespace martello {
namespace {
constexpr int kPoison = 0xA5;  // as a float a small negative number, as an index absurd
}

void Lane::grow(const Program& program) {
  bool changed = false;
  if (arenas_.size() < program.arena_bytes.size()) arenas_.resize(program.arena_bytes.size());
  for (size_t d = 0; d < program.arena_bytes.size(); ++d) {
    if (arenas_[d] && arenas_[d].size() >= program.arena_bytes[d]) continue;
    arenas_[d] = Buffer(program.arena_bytes[d], Device::parse(program.devices[d]));
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
  }
  return *bound;
}

}  // namespace martello
