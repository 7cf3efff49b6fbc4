#include <martello/runtime/session.h>

#include <martello/base/error.h>
#include <martello/base/threads.h>
#include <martello/graph/node.h>
#include <martello/ops/variable.h>
#include <martello/runtime/internal/session_impl.h>

#include <algorithm>

namespace martello {

Fetches::Fetches(const TensorList& l, SourceLine line) {
  for (const Tensor& t : l) list_.emplace_back(t, line);
}

Session::Session(Graph graph, SessionOptions options)
    : impl_(std::make_shared<Impl>(std::move(graph), std::move(options))) {}
Session::~Session() = default;
Session::Session(Session&&) noexcept = default;
Session& Session::operator=(Session&&) noexcept = default;

Session::Impl& Session::impl() const {
  if (!impl_) throw FailedPrecondition("[session] is not open yet: it was made from nullptr.");
  return *impl_;
}

Graph Session::graph() const { return impl().graph; }

KernelChoices Session::kernel_choices() const { return impl().chooser.choices(); }

size_t Session::cached_plans() const {
  std::lock_guard lock(impl().plans_mutex);
  return impl_->plans.size();
}

int64_t Session::skipped_runs() const { return impl().skipped_runs.load(); }

PreparedRun Session::prepare(const Fetches& fetches, const std::vector<Fetch>& feeds) {
  PreparedRun prepared;
  prepared.impl_ = std::make_shared<PreparedRun::Impl>();
  auto& p = *prepared.impl_;
  p.signature = impl().resolve(fetches, feeds);
  p.session = impl_;
  p.feeds.resize(feeds.size());
  p.is_fed.assign(feeds.size(), false);
  p.outputs.resize(p.signature.fetches.size());
  return prepared;
}

namespace {

std::vector<Fetch> keys_of(const Feeds& feeds) {
  std::vector<Fetch> keys;
  for (const Feed& f : feeds) keys.push_back(f.to);
  return keys;
}

PreparedRun prepare_with(Session& session, const Fetches& fetches, const Feeds& feeds) {
  PreparedRun prepared = session.prepare(fetches, keys_of(feeds));
  for (size_t i = 0; i < feeds.size(); ++i) prepared.feed(i, feeds[i].value);
  return prepared;
}

}  // namespace

HostTensors Session::run(const Fetches& fetches, const Feeds& feeds) {
  PreparedRun prepared = prepare_with(*this, fetches, feeds);
  prepared.run();
  HostTensors values;
  for (size_t i = 0; i < fetches.list().size(); ++i) values.push_back(prepared.value(i));
  return values;
}

HostTensors Session::run_traced(const Fetches& fetches, const Feeds& feeds, RunTrace& trace) {
  PreparedRun prepared = prepare_with(*this, fetches, feeds);
  prepared.impl_->run(&trace);
  HostTensors values;
  for (size_t i = 0; i < fetches.list().size(); ++i) values.push_back(prepared.value(i));
  return values;
}

HostTensor Session::eval(const Fetch& fetch, const Feeds& feeds) { return run(Fetches{fetch}, feeds)[0]; }

MemoryPlan Session::memory_plan(const Fetches& fetches, const Feeds& feeds) {
  return prepare_with(*this, fetches, feeds).impl_->plan().program->memory;
}

PlanReport Session::plan_report(const Fetches& fetches, const Feeds& feeds) {
  PreparedRun prepared = prepare_with(*this, fetches, feeds);
  const Program& program = *prepared.impl_->plan().program;
  PlanReport report = program.report;
  report.graph_text = program.graph.text();
  return report;
}

HostTensor Session::get(const Fetch& variable) {
  const int index = impl().get_variable_index(variable, true);
  std::shared_lock lock(impl_->store.mutex);
  return impl_->store.read(index);
}

void Session::set(const Fetch& variable, const HostTensor& value) {
  const int index = impl().get_variable_index(variable, false);
  std::unique_lock lock(impl_->store.mutex);
  with_line(variable.line(), [&] { impl_->store.write(index, value); });
}

}  // namespace martello
