#pragma once
#include <martello/runtime/internal/schedule.h>
#include <martello/runtime/session.h>

#include <memory>
#include <string>
#include <vector>

namespace martello {

class VariableStore;

// Where the bytes of a tensor lie while a program runs.
struct Value {
  enum class Home : uint8_t { none, arena, feed, variable, constant, derived };
  Home home = Home::none;
  int index = -1;  // of the feed, variable, constant or derived form
  int device = 0;
  int64_t offset = 0;  // in the device's arena
  int64_t count = 0;
  int64_t rows = 1;     // planned size of dimension 0
  int64_t per_row = 0;  // elements per row
  int rows_cell = -1;   // holds the run-time rows when they depend on data
};

struct ProgramStep {
  std::string node;
  const char* op = "";
  SourceLine line;
  Kernel kernel;
  std::vector<int> in, out;  // values
  int64_t scratch_offset = 0;
  int threads = 1;
  bool has_dynamic_rows = false;
  Rows rows = Rows::refused;
  std::vector<int> row_inputs;  // which have as many rows as each other
  std::vector<int> waits;       // events of other devices
  int signal = -1;
  int derived = -1;  // the derived form that it makes
};

// See Note [Derived forms].
struct ProgramDerived {
  int variable = -1;  // position in Program::variables
  int64_t bytes = 0;
};

// The steps of one device between two barriers.
struct Segment {
  Phase phase = Phase::compute;
  int stage = 0;
  std::vector<std::vector<ProgramStep>> steps;  // by device
};

struct ProgramFetch {
  int value = -1;
  int segment = 0;  // copied out after this one
  TensorSpec spec;
};

struct ProgramOptions {
  int threads = 1;
  std::vector<std::string> disabled_passes = {};
  bool always_parallel = false;
  Precision precision = Precision::f32;
};

// A graph compiled for given fetches, feeds and shapes: one device program per device, cut into segments by the phases
// of the run. Immutable; lanes bind it to addresses.
struct Program {
  std::vector<std::string> devices;
  std::vector<Segment> segments;
  std::vector<Value> values;
  std::vector<HostTensor> constants;
  std::vector<std::string> variables;  // names; values refer to them by position
  std::vector<ProgramDerived> derived;
  std::vector<ProgramFetch> fetches;
  std::vector<TensorSpec> feeds;  // as planned
  std::vector<bool> is_feed_used;
  std::vector<std::string> written;  // variables the updates write
  std::vector<int64_t> arena_bytes;  // by device
  int rows_cells = 0;
  int events = 0;
  MemoryPlan memory;
  PlanReport report;
  Graph graph;  // after all passes, for reports

  bool has_update() const;
};

// `store` gives groups of variables their layout, so that gradients can be pinned alike; null for a body.
std::shared_ptr<Program> compile(PlanGraph plan, const ProgramOptions& options, VariableStore* store);

}  // namespace martello
