#pragma once
#include <martello/passes/plan_graph.h>

#include <vector>

namespace martello {

enum class Phase : uint8_t { compute, update };

// A node in the order of a run. Stage s is compute s, then update s; only a read ordered after a write makes a second.
struct ScheduledNode {
  OpNode* node = nullptr;
  int stage = 0;
  Phase phase = Phase::compute;
};

struct Schedule {
  std::vector<ScheduledNode> nodes;  // by stage, phase, then order
  std::vector<int> stage_of;         // by node id
  int stages = 1;
};

// See Note [What a run means] in schedule.cc. Adds copies of variables whose old value outlives a write, and the
// advance of random counters. Refuses two assigns of one variable without a control path between them.
Schedule make_schedule(PlanGraph& plan);

}  // namespace martello
