#pragma once
#include <martello/runtime/internal/kernel_chooser.h>
#include <martello/runtime/internal/lane.h>
#include <martello/runtime/internal/variable_store.h>
#include <martello/runtime/session.h>

#include <atomic>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

namespace martello {

// What a caller asks for, resolved to nodes of the session's graph.
struct RunSignature {
  std::vector<Fetch> asked;        // as given, for messages
  std::vector<Tensor> fetches;     // tensors with a value
  std::vector<Operation> targets;  // operations without
  std::vector<int> position;       // by asked fetch: index into fetches, or -1 for an operation
  std::vector<Tensor> feeds;
  std::string key;  // identifies fetches, targets and feeds
};

struct RunMode {
  int stream = 1;  // 0 hooked, 1 plain
  RunTrace* trace = nullptr;
  double timeout_seconds = 0;  // 0: none
};

struct Session::Impl : std::enable_shared_from_this<Session::Impl> {
  Impl(Graph g, SessionOptions o);

  RunSignature resolve(const Fetches& fetches, const std::vector<Fetch>& feeds) const;
  Tensor fed_tensor(const Fetch& feed) const;
  // The plan for feeds of these shapes: cached, or made now.
  std::shared_ptr<const Plan> get_plan(const RunSignature& signature, const std::vector<Shape>& shapes);
  // Runs on a free lane. `outputs` has one tensor per signature.fetches; their memory is used again when nobody else
  // holds it. False: a gradient was not finite, and nothing was written.
  bool execute(const Plan& plan, const HostTensor* feeds, HostTensors& outputs, RunMode mode);

  // Counts a run that wrote nothing, and says why in the log.
  void report_skip(const RunSignature& signature, const HostTensor* feeds, int stream);

  // Gives variables their first values: those of a plan before its first run, or by name (plans_mutex held).
  void initialize(const Plan& plan);
  void initialize(const std::vector<std::string>& names);
  int get_variable_index(const Fetch& variable, bool needs_value);

  Graph graph;
  SessionOptions options;
  SessionChooser chooser;
  VariableStore store;

  std::mutex plans_mutex;  // also serializes planning
  struct CachedPlan {
    std::string key;
    std::shared_ptr<const Plan> plan;
  };
  std::list<CachedPlan> plans;  // most recently used first
  std::unordered_map<std::string, std::list<CachedPlan>::iterator> plan_by_key;
  int64_t next_plan_id = 1;

  std::mutex lanes_mutex;
  std::vector<std::unique_ptr<Lane>> lanes;
  std::vector<Lane*> free_lanes;  // last freed first taken: its arena is warm

  std::atomic<int64_t> skipped_runs = 0;

 private:
  friend class LaneLease;
  std::shared_ptr<const Plan> make_plan(const RunSignature& signature, const std::vector<Shape>& shapes,
                                        const std::vector<std::string>& disabled_passes);
  void remember(const std::string& key, std::shared_ptr<const Plan> plan);
  Lane& take_lane();
  bool run_segments(BoundProgram& bound, const Plan& plan, Lane& lane, HostTensors& outputs, RunTrace* trace);
  std::string explain(const RunSignature& signature, const HostTensor* feeds, int stream);
  void refresh_variables(BoundProgram& bound, const Plan& plan) const;
};

// A free lane, given back whatever happens.
class LaneLease {
 public:
  explicit LaneLease(Session::Impl& session);
  ~LaneLease();
  LaneLease(const LaneLease&) = delete;
  LaneLease& operator=(const LaneLease&) = delete;
  Lane& lane() const { return lane_; }

 private:
  Session::Impl& session_;
  Lane& lane_;
};

struct PreparedRun::Impl {
  std::shared_ptr<Session::Impl> session;
  RunSignature signature;
  HostTensors feeds;
  std::vector<bool> is_fed;
  HostTensors outputs;
  HostTensor nothing;  // the value of an Operation
  int stream = 1;
  double timeout_seconds = 0;
  bool was_skipped = false;

  // The few plans this caller alternates between, most recent first.
  struct Known {
    std::vector<Shape> shapes;
    std::shared_ptr<const Plan> plan;
  };
  std::vector<Known> known;

  const Plan& plan();
  void run(RunTrace* trace = nullptr);
};

}  // namespace martello
