#include <martello/runtime/internal/bound_program.h>

#include <martello/base/error.h>
#include <martello/base/internal/clock.h>
#include <martello/base/threads.h>
#include <martello/kernel/library_time.h>
#include <martello/runtime/internal/aborted.h>
#include <martello/runtime/internal/non_finite_watch.h>

namespace martello {
namespace {

double now_us() { return 1e6 * internal::now_seconds(); }

size_t count_tensors(const Program& program) {
  size_t n = 0;
  for (const Segment& segment : program.segments)
    for (const auto& steps : segment.steps)
      for (const ProgramStep& step : steps) n += step.in.size() + step.out.size();
  return n;
}

}  // namespace

BoundProgram::BoundProgram(std::shared_ptr<const Program> program, std::vector<std::byte*> arenas)
    : program_(std::move(program)),
      arenas_(std::move(arenas)),
      tensors_(count_tensors(*program_)),
      fetches_(program_->fetches.size()),
      feed_patches_(program_->feeds.size()),
      variable_patches_(program_->variables.size()),
      derived_(program_->derived.size()),
      rows_(static_cast<size_t>(program_->rows_cells), 0),
      params_(program_->devices.size()),
      events_(std::make_unique<std::atomic<int64_t>[]>(static_cast<size_t>(program_->events))) {
  for (const Segment& segment : program_->segments) {
    auto& devices = steps_.emplace_back(segment.steps.size());
    for (size_t d = 0; d < segment.steps.size(); ++d) {
      devices[d].resize(segment.steps[d].size());
      for (size_t i = 0; i < segment.steps[d].size(); ++i) bind_step(segment.steps[d][i], d, devices[d][i]);
    }
  }
  for (size_t i = 0; i < fetches_.size(); ++i) bind_tensor(program_->fetches[i].value, fetches_[i]);
}

void BoundProgram::bind_tensor(int value, RunTensor& tensor) {
  const Value& v = program_->values[static_cast<size_t>(value)];
  tensor.count = v.count;
  tensor.rows = v.rows;
  switch (v.home) {
    case Value::Home::arena: tensor.data = arenas_[static_cast<size_t>(v.device)] + v.offset; break;
    case Value::Home::feed: feed_patches_[static_cast<size_t>(v.index)].push_back(&tensor); break;
    case Value::Home::variable: variable_patches_[static_cast<size_t>(v.index)].push_back(&tensor); break;
    case Value::Home::constant:
      tensor.data = const_cast<std::byte*>(program_->constants[static_cast<size_t>(v.index)].raw());
      break;
    case Value::Home::derived: derived_[static_cast<size_t>(v.index)].patches.push_back(&tensor); break;
    case Value::Home::none: break;
  }
}

void BoundProgram::bind_step(const ProgramStep& step, size_t device, BoundStep& bound) {
  bound.step = &step;
  bound.threads = step.threads;
  bound.is_special = step.has_dynamic_rows || !step.waits.empty() || step.signal >= 0 || step.derived >= 0;
  const auto take = [&](const std::vector<int>& values) {
    RunTensor* first = tensors_.data() + next_tensor_;
    for (int v : values) bind_tensor(v, tensors_[next_tensor_++]);
    return first;
  };
  bound.run.in_ = take(step.in);
  bound.run.out_ = take(step.out);
  bound.run.scratch = arenas_[device] ? arenas_[device] + step.scratch_offset : nullptr;
  bound.run.params = &params_[device];
  bound.run.threads = step.threads;
  ThreadCount team(step.threads);
  bound.fn = step.kernel.bind(bound.run);
}

void BoundProgram::set_feed(size_t i, const void* data) {
  for (RunTensor* t : feed_patches_[i]) t->data = const_cast<void*>(data);
}

void BoundProgram::set_variable(size_t position, void* data) {
  for (RunTensor* t : variable_patches_[position]) t->data = data;
}

void BoundProgram::set_derived(size_t i, DerivedForm& form) {
  derived_[i].form = &form;
  for (RunTensor* t : derived_[i].patches) t->data = form.buffer.data();
}

void BoundProgram::start(int stream, int64_t first_sample, double timeout_seconds) {
  ++run_number_;
  timeout_seconds_ = timeout_seconds;
  deadline_us_ = timeout_seconds > 0 ? now_us() + timeout_seconds * 1e6 : 0;
  is_aborted_.store(false, std::memory_order_relaxed);
  for (RunParams& p : params_) p = {run_number_, first_sample, stream, 0};
}

bool BoundProgram::is_bad() const {
  for (const RunParams& p : params_)
    if (p.is_bad) return true;
  return false;
}

void BoundProgram::watch(NonFiniteWatch& watch) {
  watch_ = &watch;
  for (auto& segment : steps_)
    for (auto& device : segment)
      for (BoundStep& step : device) step.is_special = true;
}

void BoundProgram::run_segment(size_t segment, size_t device, RunTrace* trace) {
  auto& steps = steps_[segment][device];
  const int team_before = ThreadCount::current();
  int team = team_before;
  size_t i = 0;
  try {
    for (; i < steps.size(); ++i) {
      BoundStep& s = steps[i];
      if (s.threads != team) ThreadCount::set(team = s.threads);
      if (deadline_us_ > 0) [[unlikely]]
        check_deadline();
      if (trace) [[unlikely]]
        trace_step(s, device, *trace);
      else if (s.is_special) [[unlikely]] run_special(s, device);
      else s.fn(s.run);
    }
    if (team != team_before) ThreadCount::set(team_before);
  } catch (Error& e) {
    ThreadCount::set(team_before);
    const ProgramStep& step = *steps[i].step;
    e.add_context(str("while running '", step.node, "' (", step.op, ") on ", program_->devices[device]));
    if (step.line.known()) e.add_context(str("at ", step.line.str()));
    abort();
    throw;
  } catch (...) {
    ThreadCount::set(team_before);
    abort();
    throw;
  }
}

void BoundProgram::trace_step(BoundStep& s, size_t device, RunTrace& trace) {
  LibraryTime library;
  const double start = now_us();
  if (s.is_special) run_special(s, device);
  else s.fn(s.run);
  trace.events.push_back({s.step->node, s.step->op, program_->devices[device], start, now_us() - start, library.us()});
}

// Between steps only: a step that hangs is not interrupted.
void BoundProgram::check_deadline() const {
  if (now_us() > deadline_us_)
    throw FailedPrecondition(str("[session] the run took longer than its timeout of ", timeout_seconds_, " s."));
}

void BoundProgram::run_special(BoundStep& s, size_t) {
  for (int event : s.step->waits) wait(event);
  if (s.step->has_dynamic_rows) load_rows(s);
  if (s.step->derived >= 0) run_derived(s);
  else s.fn(s.run);
  if (s.step->has_dynamic_rows) store_rows(s);
  if (watch_) watch_->look(*s.step, s.run);
  if (s.step->signal >= 0) {
    auto& event = events_[static_cast<size_t>(s.step->signal)];
    event.store(run_number_, std::memory_order_release);
    event.notify_all();
  }
}

void BoundProgram::run_derived(BoundStep& s) {
  const Derived& d = derived_[static_cast<size_t>(s.step->derived)];
  std::lock_guard lock(d.form->mutex);
  if (d.form->version == d.version) return;
  s.fn(s.run);
  d.form->version = d.version;
}

void BoundProgram::load_rows(BoundStep& s) {
  const auto load = [&](const std::vector<int>& values, RunTensor* tensors) {
    for (size_t i = 0; i < values.size(); ++i) {
      const Value& v = program_->values[static_cast<size_t>(values[i])];
      if (v.rows_cell < 0) continue;
      tensors[i].rows = rows_[static_cast<size_t>(v.rows_cell)];
      tensors[i].count = tensors[i].rows * v.per_row;
    }
  };
  load(s.step->in, s.run.in_);
  if (s.step->rows != Rows::made) {
    if (!s.step->row_inputs.empty()) check_same_rows(s);
    load(s.step->out, s.run.out_);
    return;
  }
  for (size_t i = 0; i < s.step->out.size(); ++i) {  // the kernel may fill up to the bound
    const Value& v = program_->values[static_cast<size_t>(s.step->out[i])];
    s.run.out_[i].rows = v.rows;
    s.run.out_[i].count = v.count;
  }
}

// Inputs that agree in their bounds may still differ in the rows they really have.
void BoundProgram::check_same_rows(const BoundStep& s) const {
  const int first = s.step->row_inputs[0];
  for (int i : s.step->row_inputs)
    MARTELLO_CHECK(s.run.in_[i].rows == s.run.in_[first].rows, "[", s.step->op, " '", s.step->node, "'] input ", i,
                   " has ", s.run.in_[i].rows, " rows in this run but input ", first, " has ", s.run.in_[first].rows,
                   ": their sizes depend on different data.");
}

void BoundProgram::store_rows(BoundStep& s) {
  if (s.step->rows != Rows::made) return;
  for (size_t i = 0; i < s.step->out.size(); ++i) {
    const Value& v = program_->values[static_cast<size_t>(s.step->out[i])];
    if (v.rows_cell >= 0) rows_[static_cast<size_t>(v.rows_cell)] = s.run.out_[i].rows;
  }
}

void BoundProgram::update_fetch_rows() {
  if (rows_.empty()) return;
  for (size_t i = 0; i < fetches_.size(); ++i) {
    const Value& v = program_->values[static_cast<size_t>(program_->fetches[i].value)];
    if (v.rows_cell < 0) continue;
    fetches_[i].rows = rows_[static_cast<size_t>(v.rows_cell)];
    fetches_[i].count = fetches_[i].rows * v.per_row;
  }
}

void BoundProgram::wait(int event) {
  auto& flag = events_[static_cast<size_t>(event)];
  for (int64_t seen = flag.load(std::memory_order_acquire); seen < run_number_;
       seen = flag.load(std::memory_order_acquire))
    flag.wait(seen, std::memory_order_acquire);
  if (is_aborted_.load(std::memory_order_acquire)) throw Aborted();
}

void BoundProgram::abort() {
  is_aborted_.store(true, std::memory_order_release);
  for (int i = 0; i < program_->events; ++i) {
    events_[static_cast<size_t>(i)].store(run_number_, std::memory_order_release);
    events_[static_cast<size_t>(i)].notify_all();
  }
}

}  // namespace martello
