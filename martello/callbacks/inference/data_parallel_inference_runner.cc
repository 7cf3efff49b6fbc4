#include <martello/callbacks/inference/data_parallel_inference_runner.h>

#include <martello/base/error.h>
#include <martello/base/log.h>
#include <martello/callbacks/inference/internal/inference_runner_impl.h>
#include <martello/callbacks/inference/internal/progress.h>
#include <martello/graph/core_ops.h>
#include <martello/input/internal/signature_check.h>
#include <martello/loop/interrupt.h>

namespace martello {
namespace {

using Group = std::vector<Datapoint>;

// Feeds one datapoint of a group to each tower.
class GroupHook : public RunHook {
 public:
  GroupHook(const internal::SignatureCheck& check, const Group& group) : check_(check), group_(group) {}
  void add(const TensorList& inputs) { towers_.push_back(inputs); }
  void before_run(RunContext& run) override {
    for (size_t t = 0; t < towers_.size(); ++t)
      for (size_t i = 0; i < towers_[t].size(); ++i) run.feed(towers_[t][i], check_.component(group_[t], i));
  }
  std::string hook_name() const override { return "DataParallelInferenceRunner"; }

 private:
  const internal::SignatureCheck& check_;
  const Group& group_;
  std::vector<TensorList> towers_;
};

void execute(HookedSession& session) {
  session.execute(Fetches());
  if (session.should_stop()) throw StopTraining("a hook of an inference requested it");
}

}  // namespace

struct DataParallelInferenceRunner::Parallel {
  Parallel(DataFlowRef f, std::vector<int> d) : flow(std::move(f)), devices(std::move(d)) {}

  void add_tower(TrainContext& context, Impl& runner, size_t k);
  void open(Session& session, const std::vector<Ref<RunHook>>& extra);
  void rehearse(const std::string& where);
  // The number of datapoints; none when a signal came.
  std::optional<int64_t> run_all(internal::DataProgress& progress, const std::string& where);
  void run_group(Group read, const std::string& where, int64_t first);

  DataFlowRef flow;
  std::vector<int> devices;
  internal::SignatureCheck check;
  Group group;  // of the run in progress
  std::vector<internal::InferenceTower> towers;
  std::optional<GroupHook> feeds_all, feeds_first;
  std::optional<HookedSession> all, first;
};

DataParallelInferenceRunner::DataParallelInferenceRunner(DataFlowRef flow, std::vector<Ref<Inferencer>> inferencers,
                                                         std::vector<int> devices, const InferenceOptions& options,
                                                         SourceLine line)
    : InferenceRunner(flow, std::move(inferencers), options, line),
      parallel_(make_owned<Parallel>(flow.prefetch({.buffer_bytes = kReadAhead}, line), std::move(devices))) {
  with_line(line, [&] {
    MARTELLO_CHECK(!parallel_->devices.empty(), "[inference '", options.tower_name,
                   "'] has no device. Give the number of at least one.");
  });
}
DataParallelInferenceRunner::DataParallelInferenceRunner(DataParallelInferenceRunner&&) noexcept = default;
DataParallelInferenceRunner::~DataParallelInferenceRunner() = default;

void DataParallelInferenceRunner::Parallel::add_tower(TrainContext& context, Impl& runner, size_t k) {
  const auto inputs = [&] {
    TensorList list;
    for (const TensorSpec& s : runner.signature(context)) list.push_back(placeholder(s.shape, s.dtype, Name(s.name)));
    return list;
  };
  const std::string name = str(runner.options.tower_name, k);
  towers.emplace_back(runner.build_tower(context, name, devices[k], inputs), runner.inferencers);
}

void DataParallelInferenceRunner::setup_graph() {
  Impl& r = runner();
  Parallel& p = *parallel_;
  MARTELLO_CHECK(p.flow.size() != 0, r.where(), "its data has no datapoint.");
  r.claim_scalars(context().graph().collections(), provides());
  p.check = internal::SignatureCheck(r.signature(context()), "inference", p.flow.description());
  for (size_t k = 0; k < p.devices.size(); ++k) p.add_tower(context(), r, k);
}

void DataParallelInferenceRunner::Parallel::open(Session& session, const std::vector<Ref<RunHook>>& extra) {
  std::vector<RunHook*> hooks = {&feeds_all.emplace(check, group)}, of_first = {&feeds_first.emplace(check, group)};
  feeds_first->add(towers[0].inputs());
  for (const auto& tower : towers) {
    feeds_all->add(tower.inputs());
    for (RunHook* h : tower.hooks()) hooks.push_back(h);
  }
  for (RunHook* h : towers[0].hooks()) of_first.push_back(h);
  for (const auto& h : extra) {
    hooks.push_back(h.get());
    of_first.push_back(h.get());
  }
  all.emplace(session, hooks);
  first.emplace(session, of_first);
}

// The first datapoint, on all towers.
void DataParallelInferenceRunner::Parallel::rehearse(const std::string& where) try {
  const auto datapoint = flow->iterate(Pass{})->next();
  if (!datapoint) return;
  check.check(*datapoint, 0);
  for (auto& t : towers) t.set_silent(true);
  group.assign(towers.size(), *datapoint);
  all->execute(Fetches());
  for (auto& t : towers) t.set_silent(false);
} catch (Error& e) {
  e.add_context(str("in the rehearsal of ", where, "before training"));
  throw;
}

void DataParallelInferenceRunner::before_train() {
  parallel_->open(sess(), runner().extra_hooks);
  if (runner().options.rehearse) parallel_->rehearse(runner().where());
}

void DataParallelInferenceRunner::Parallel::run_group(Group read, const std::string& where, int64_t first_ordinal) try {
  if (read.size() == towers.size()) {
    group = std::move(read);
    return execute(*all);
  }
  for (Datapoint& d : read) {
    group = {std::move(d)};
    execute(*first);
  }
} catch (const StopTraining&) {
  throw;
} catch (Error& e) {
  e.add_context(str("in the datapoints from ", first_ordinal, " on of ", where));
  throw;
}

std::optional<int64_t> DataParallelInferenceRunner::Parallel::run_all(internal::DataProgress& progress,
                                                                      const std::string& where) {
  const auto iterator = flow->iterate(Pass{});
  int64_t done = 0;
  while (interrupt_signal() == 0) {
    Group read;
    while (read.size() < towers.size()) {
      auto datapoint = iterator->next();
      if (!datapoint) break;
      check.check(*datapoint, done + static_cast<int64_t>(read.size()));
      read.push_back(std::move(*datapoint));
    }
    if (read.empty()) return done;
    const auto count = static_cast<int64_t>(read.size());
    run_group(std::move(read), where, done);
    done += count;
    progress.show(done);
  }
  return std::nullopt;
}

void DataParallelInferenceRunner::trigger() {
  const Impl& r = runner();
  internal::DataProgress progress(r.where() + "datapoint", parallel_->flow.size());
  for (const Ref<Inferencer>& i : r.inferencers) i->before_inference();
  const std::optional<int64_t> done = parallel_->run_all(progress, r.where());
  if (!done) return logger::info(r.where(), "is left without results: a signal has come.");
  r.check_count(*done);
  if (*done == 0) return logger::warn(r.where(), "its data gave no datapoint, so there are no results.");
  put_results();
}

void DataParallelInferenceRunner::after_train() {
  parallel_->all.reset();
  parallel_->first.reset();
}

}  // namespace martello
