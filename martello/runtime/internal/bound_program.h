#pragma once
#include <martello/runtime/internal/derived_form.h>
#include <martello/runtime/internal/program.h>

#include <atomic>
#include <memory>
#include <vector>

namespace martello {

class NonFiniteWatch;

// A program with addresses: what one lane runs. Not shared between threads.
class BoundProgram {
 public:
  BoundProgram(std::shared_ptr<const Program> program, std::vector<std::byte*> arenas);

  void set_feed(size_t i, const void* data);
  void set_variable(size_t position, void* data);
  void set_derived(size_t i, DerivedForm& form);
  // The version of its variable in the next run.
  void set_derived_version(size_t i, uint64_t version) { derived_[i].version = version; }
  // Before each run.
  void start(int stream, int64_t first_sample = 0, double timeout_seconds = 0);
  // The steps of one device in one segment. Events of other devices are awaited; a throw wakes all waiters.
  void run_segment(size_t segment, size_t device, RunTrace* trace);
  const RunTensor& fetch(size_t i) const { return fetches_[i]; }
  void update_fetch_rows();  // after compute: run-time sizes of fetched tensors
  bool is_bad() const;
  // From now on shows the results of every step to `watch`.
  void watch(NonFiniteWatch& watch);

  const Program& program() const { return *program_; }
  uint64_t store_generation = 0;  // of the addresses of variables

 private:
  struct BoundStep {
    BoundKernel fn;
    KernelRun run;
    const ProgramStep* step = nullptr;
    int threads = 1;
    bool is_special = false;  // waits, signals, has run-time rows, makes a derived form or is watched
  };
  struct Derived {
    std::vector<RunTensor*> patches;
    DerivedForm* form = nullptr;
    uint64_t version = 0;
  };

  void bind_step(const ProgramStep& step, size_t device, BoundStep& bound);
  void bind_tensor(int value, RunTensor& tensor);
  void trace_step(BoundStep& s, size_t device, RunTrace& trace);
  void run_special(BoundStep& step, size_t device);
  void run_derived(BoundStep& step);
  void load_rows(BoundStep& step);
  void check_same_rows(const BoundStep& step) const;
  void store_rows(BoundStep& step);
  void check_deadline() const;
  void wait(int event);
  void abort();

  std::shared_ptr<const Program> program_;
  std::vector<std::byte*> arenas_;
  std::vector<RunTensor> tensors_;  // of all steps; never grows after construction
  size_t next_tensor_ = 0;
  std::vector<std::vector<std::vector<BoundStep>>> steps_;  // by segment, device
  std::vector<RunTensor> fetches_;
  std::vector<std::vector<RunTensor*>> feed_patches_, variable_patches_;
  std::vector<Derived> derived_;
  std::vector<int64_t> rows_;
  std::vector<RunParams> params_;  // by device
  std::unique_ptr<std::atomic<int64_t>[]> events_;
  NonFiniteWatch* watch_ = nullptr;
  std::atomic<bool> is_aborted_ = false;
  int64_t run_number_ = 0;
  double timeout_seconds_ = 0;
  double deadline_us_ = 0;  // 0: none
};

}  // namespace martello
