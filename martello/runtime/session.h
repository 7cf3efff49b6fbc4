#pragma once
#include <martello/graph/graph.h>
#include <martello/passes/precision.h>
#include <martello/runtime/kernel_choices.h>
#include <martello/tensor/host_tensor.h>

#include <concepts>
#include <initializer_list>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace martello {

// What a run returns or takes: a Tensor, an Operation (no value), or a name. Remembers where it was asked for.
class Fetch {
 public:
  Fetch(Tensor t, SourceLine line = SourceLine::current()) : tensor_(t), line_(line) {}
  Fetch(Operation o, SourceLine line = SourceLine::current()) : operation_(o), line_(line) {}
  Fetch(const char* name, SourceLine line = SourceLine::current()) : name_(name), line_(line) {}
  Fetch(std::string name, SourceLine line = SourceLine::current()) : name_(std::move(name)), line_(line) {}
  Tensor tensor() const { return tensor_; }
  Operation operation() const { return operation_; }
  const std::string& name() const { return name_; }
  SourceLine line() const { return line_; }
  bool operator==(const Fetch& o) const {
    return name_ == o.name_ && tensor_ == o.tensor_ && operation_ == o.operation_;
  }

 private:
  std::string name_;
  Tensor tensor_;
  Operation operation_;
  SourceLine line_;
};

class Fetches {
 public:
  Fetches() = default;
  Fetches(std::initializer_list<Fetch> l) : list_(l) {}
  template <class F>
  requires std::convertible_to<F, Fetch> Fetches(F&& f, SourceLine line = SourceLine::current()) {
    if constexpr (std::same_as<std::remove_cvref_t<F>, Fetch>) list_.push_back(std::forward<F>(f));
    else list_.emplace_back(std::forward<F>(f), line);
  }
  Fetches(std::vector<Fetch> f) : list_(std::move(f)) {}
  Fetches(const TensorList& l, SourceLine line = SourceLine::current());
  const std::vector<Fetch>& list() const { return list_; }

 private:
  std::vector<Fetch> list_;
};

struct Feed {
  Fetch to;
  HostTensor value;
};
using Feeds = std::vector<Feed>;

// Time of one kernel call in a traced run.
struct TraceEvent {
  std::string node;
  std::string op;
  std::string device;
  double start_us = 0;
  double duration_us = 0;
  double library_us = 0;  // of it inside oneDNN
};
struct RunTrace {
  std::vector<TraceEvent> events;
  std::string chrome_json() const;  // for chrome://tracing and Perfetto
  std::string table() const;        // per op: calls, total and mean time
};

struct PlannedBuffer {
  std::string tensor;
  int64_t offset = 0;
  int64_t bytes = 0;
  int first = 0;  // steps of the program between which it lives
  int last = 0;
};
struct DeviceMemory {
  std::string device;
  int64_t arena_bytes = 0;         // the planned peak, which is the arena's size
  int64_t largest_live_bytes = 0;  // no plan can need less
  int64_t variable_bytes = 0;
  int64_t derived_bytes = 0;  // copies of variables in other layouts, kept from run to run
  int64_t constant_bytes = 0;
  std::string peak_node;  // the op at the peak
  std::vector<PlannedBuffer> buffers;
};
struct MemoryPlan {
  std::vector<DeviceMemory> devices;
  std::string str() const;  // peak, op at the peak, ten largest buffers
};

struct PassTime {
  std::string pass;
  double milliseconds = 0;
  bool changed = false;
};
// How a plan came to be.
struct PlanReport {
  std::vector<PassTime> passes;
  double total_milliseconds = 0;
  int64_t nodes = 0;
  std::string graph_text;                    // after all passes
  std::vector<std::string> implementations;  // "fc/matmul: brgemm, 2 threads"
  std::vector<std::string> pin_copies;       // gradient slots that could not be pinned and cost a copy
};

struct SessionOptions {
  int threads = 0;                                // compute threads of each run; 0: default_threads()
  std::vector<std::string> disabled_passes = {};  // by name: "fuse"
  // bf16: large matrix products and convolutions take factors rounded to bf16; the rest of the graph does not notice.
  Precision precision = Precision::f32;
  // Where a node has several kernels: rules, the same in every run, or timing, whose outcome can be recorded.
  KernelChoice kernel_choice = KernelChoice::fixed;
  KernelChoices recorded_choices = {};  // Session::kernel_choices() of an earlier session
  size_t plan_cache = 64;               // plans kept, least recently used go first
  bool always_parallel = false;         // give small kernels all threads too (tests)
  bool poison_arena = false;            // fill scratch with a pattern: finds reads of unwritten memory
  // Skipped runs (see finite_norm) whose computation is done again to name the op that gave the first NaN or infinity,
  // in the log; the first ones of the session.
  int64_t explained_skips = 3;
};

class PreparedRun;

// Runs a graph and owns the values of its variables. Any number of threads may run at once.
class Session {
 public:
  explicit Session(Graph graph = Graph::current(), SessionOptions options = {});
  Session(std::nullptr_t) {}  // none yet
  ~Session();
  Session(Session&&) noexcept;
  Session& operator=(Session&&) noexcept;

  // One value per fetched Tensor; an Operation gives an empty one.
  HostTensors run(const Fetches& fetches, const Feeds& feeds = {});
  HostTensor eval(const Fetch& fetch, const Feeds& feeds = {});
  HostTensors run_traced(const Fetches& fetches, const Feeds& feeds, RunTrace& trace);
  // Fetches and feeds bound once: its run() looks nothing up and, for shapes seen before, allocates nothing.
  PreparedRun prepare(const Fetches& fetches, const std::vector<Fetch>& feeds = {});

  // What a run with feeds of these shapes would need; nothing is run and no arena is allocated.
  MemoryPlan memory_plan(const Fetches& fetches, const Feeds& feeds = {});
  PlanReport plan_report(const Fetches& fetches, const Feeds& feeds = {});

  // Variables by name or handle, between runs.
  HostTensor get(const Fetch& variable);
  void set(const Fetch& variable, const HostTensor& value);

  // What was chosen for the plans made so far.
  KernelChoices kernel_choices() const;

  Graph graph() const;
  size_t cached_plans() const;
  // Runs that wrote nothing because a gradient was not finite.
  int64_t skipped_runs() const;
  struct Impl;
  Impl& impl() const;

 private:
  friend class PreparedRun;
  std::shared_ptr<Impl> impl_;
};

class PreparedRun {
 public:
  PreparedRun() = default;
  // The value is shared, not copied, when it is aligned.
  void feed(size_t i, const HostTensor& value);
  void run();
  const HostTensor& value(size_t i) const;  // of the last run; valid until the next
  bool was_skipped() const;                 // the last run wrote nothing because a gradient was not finite
  struct Impl;

 private:
  friend class Session;
  friend class HookedSession;
  std::shared_ptr<Impl> impl_;
};

}  // namespace martello
