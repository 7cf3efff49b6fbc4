#include <martello/base/error.h>
#include <martello/runtime/internal/session_impl.h>

#include <cstring>
#include <shared_mutex>

namespace martello {
namespace {

// Memory of the last run is used again unless the caller kept a copy of the tensor.
void copy_out(const RunTensor& from, const TensorSpec& spec, HostTensor& to) {
  const bool fits = to.dtype() == spec.dtype && to.num_elements() == from.count && !to.is_shared() &&
                    to.shape().rank() == spec.shape.rank() && (from.count > 0 || to.shape() == spec.shape) &&
                    (to.shape().rank() == 0 || to.shape()[0] == from.rows);
  if (!fits) to = HostTensor(spec.shape.rank() > 0 ? spec.shape.with(0, from.rows) : spec.shape, spec.dtype);
  if (from.count > 0) std::memcpy(to.mutable_raw(), from.data, static_cast<size_t>(to.num_bytes()));
}

void trace_segment(Lane& lane, BoundProgram& bound, size_t segment, size_t devices, RunTrace& trace) {
  std::mutex mutex;
  lane.team().run(devices, [&](size_t device) {
    RunTrace own;
    bound.run_segment(segment, device, &own);
    std::lock_guard lock(mutex);
    trace.events.insert(trace.events.end(), own.events.begin(), own.events.end());
  });
}

}  // namespace

LaneLease::LaneLease(Session::Impl& session) : session_(session), lane_(session.take_lane()) {}
LaneLease::~LaneLease() {
  std::lock_guard lock(session_.lanes_mutex);
  session_.free_lanes.push_back(&lane_);
}

Lane& Session::Impl::take_lane() {
  std::lock_guard lock(lanes_mutex);
  if (free_lanes.empty()) {
    lanes.push_back(std::make_unique<Lane>(options.poison_arena, options.plan_cache));
    free_lanes.reserve(lanes.size());
    return *lanes.back();
  }
  Lane* lane = free_lanes.back();
  free_lanes.pop_back();
  return *lane;
}

void Session::Impl::refresh_variables(BoundProgram& bound, const Plan& plan) const {
  for (size_t i = 0; i < plan.derived.size(); ++i) {
    const auto variable = static_cast<size_t>(plan.program->derived[i].variable);
    bound.set_derived_version(i, store.entry(plan.variables[variable]).version);
  }
  if (bound.store_generation == store.generation()) return;
  for (size_t i = 0; i < plan.variables.size(); ++i) bound.set_variable(i, store.address(plan.variables[i]));
  bound.store_generation = store.generation();
}

bool Session::Impl::execute(const Plan& plan, const HostTensor* feeds, HostTensors& outputs, RunMode mode) {
  initialize(plan);
  const LaneLease lease(*this);
  BoundProgram& bound = lease.lane().bind(plan);
  for (size_t i = 0; i < plan.program->feeds.size(); ++i)
    if (plan.program->is_feed_used[i]) bound.set_feed(i, feeds[i].raw());
  bound.start(mode.stream, 0, mode.timeout_seconds);
  return run_segments(bound, plan, lease.lane(), outputs, mode.trace);
}

// Compute holds the store shared, update exclusively. A bad run skips its updates, and false says so.
bool Session::Impl::run_segments(BoundProgram& bound, const Plan& plan, Lane& lane, HostTensors& outputs,
                                 RunTrace* trace) {
  const Program& program = *plan.program;
  const auto take_fetches = [&](int segment) {
    bound.update_fetch_rows();
    for (size_t i = 0; i < program.fetches.size(); ++i)
      if (program.fetches[i].segment == segment) copy_out(bound.fetch(i), program.fetches[i].spec, outputs[i]);
  };
  bool is_written = true;
  const auto run = [&](size_t s) {
    const size_t devices = program.devices.size();
    if (trace) return trace_segment(lane, bound, s, devices, *trace);
    lane.team().run(devices, [&](size_t device) { bound.run_segment(s, device, nullptr); });
  };
  std::shared_lock shared(store.mutex);
  refresh_variables(bound, plan);
  take_fetches(-1);
  for (size_t s = 0; s < program.segments.size(); ++s) {
    if (program.segments[s].phase == Phase::compute) {
      run(s);
      take_fetches(static_cast<int>(s));
      continue;
    }
    if (bound.is_bad()) {
      is_written = false;
      continue;
    }
    shared.unlock();
    {
      std::unique_lock exclusive(store.mutex);
      refresh_variables(bound, plan);
      run(s);
      for (int v : plan.written) store.count_write(v);
    }
    shared.lock();
    refresh_variables(bound, plan);
  }
  return is_written;
}

}  // namespace martello
