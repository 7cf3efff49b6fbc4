#pragma once
#include <martello/runtime/internal/bound_program.h>
#include <martello/runtime/internal/device_team.h>
#include <martello/runtime/internal/plan.h>
#include <martello/tensor/buffer.h>

#include <memory>
#include <unordered_map>
#include <vector>

namespace martello {

// What one running plan owns: arenas, bindings, device threads. A run takes a free lane, so runs on several threads
// never share scratch.
class Lane {
 public:
  Lane(bool poison, size_t most_bound) : most_bound_(most_bound), poison_(poison) {}
  // The plan with this lane's addresses; made at its first run here, and again when an arena had to grow.
  BoundProgram& bind(const Plan& plan);
  void forget(int64_t plan_id) { bound_.erase(plan_id); }
  DeviceTeam& team() { return team_; }
  const std::vector<Buffer>& arenas() const { return arenas_; }

 private:
  void grow(const Program& program);

  std::vector<Buffer> arenas_;  // by position of the device in a program
  std::unordered_map<int64_t, std::unique_ptr<BoundProgram>> bound_;
  DeviceTeam team_;
  size_t most_bound_;  // plans evicted while this lane was in use are dropped here
  bool poison_;
};

}  // namespace martello
