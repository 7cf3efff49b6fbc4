// How a trainer goes on with what was saved.
#include <martello/base/append_file.h>
#include <martello/base/error.h>
#include <martello/base/log.h>
#include <martello/base/state.h>
#include <martello/graph/collections.h>
#include <martello/train/internal/callback_keys.h>
#include <martello/train/internal/find_checkpoint.h>
#include <martello/train/internal/trainer_impl.h>

#include <algorithm>
#include <random>
#include <set>

namespace martello {
namespace {

std::string title(const Checkpoint& c) { return str("[resume '", c.info.path, "'] "); }

std::string new_run_name() {
  std::random_device device;
  return str(device(), "-", device());
}

int64_t bytes_of(const Graph& graph) {
  int64_t bytes = 0;
  for (const auto key : {kGlobalVariables, kLocalVariables})
    for (const Variable& v : graph.collections().get(key))
      bytes += v.handle().shape().num_elements() * size_of(v.handle().dtype());
  return bytes;
}

// Puts values into variables of the same names; what only one side has, or has otherwise, is refused or said aloud.
void set_variables(Session& session, const std::vector<Variable>& variables, const std::vector<NamedTensor>& values,
                   const std::string& who, bool accepts_others) {
  std::map<std::string, const HostTensor*> left;
  for (const NamedTensor& v : values) left[v.name] = &v.value;
  std::vector<std::string> faults;
  for (const Variable& v : variables) {
    const Tensor t = v.handle();
    const auto found = left.find(t.name());
    if (found == left.end()) {
      faults.push_back(str("it has no value for variable '", t.name(), "'"));
      continue;
    }
    if (found->second->dtype() == t.dtype() && found->second->shape() == t.shape()) session.set(t, *found->second);
    else
      faults.push_back(str("variable '", t.name(), "' is ", t.dtype(), t.shape(), " but its value is ",
                           found->second->dtype(), found->second->shape()));
    left.erase(found);
  }
  for (const auto& [name, value] : left) faults.push_back(str("no variable takes its '", name, "'"));
  if (faults.empty()) return;
  MARTELLO_CHECK(accepts_others, who, join(faults, "; "), ". Accept \"graph\" to go on without them.");
  logger::warn(who, join(faults, "; "), ".");
}

void check_names(const Graph& graph) {
  for (const auto key : {kGlobalVariables, kLocalVariables})
    for (const Variable& v : graph.collections().get(key)) check_variable_name(v.handle().name());
}

}  // namespace

void Trainer::Impl::find_resumed(const ResumeOptions& options) {
  if (!commit_point.directories().empty()) check_names(graph);
  saver.open(commit_point.directories(), bytes_of(graph));
  commit_point.set_checkpoint_writer([this](const CommitPoint::Commit& c) { save(c); });
  commit_point.set_settler([this] {
    if (saver.has_tags_on_the_way()) settle_saves();
  });
  std::vector<std::string> dirs;
  for (const auto& d : commit_point.directories()) dirs.push_back(d.path);
  resumed = find_checkpoint(options.from, dirs);
  is_resumed_by_itself = options.from == "auto";
  run = resumed ? resumed->info.run : new_run_name();
  if (!resumed) return;
  fingerprint = fingerprint_of(parts);
  compare_fingerprints(resumed->fingerprint, fingerprint, accepted, title(*resumed));
  saver.go_on(resumed->info, commit_point.taggers());
  const CheckpointInfo& info = resumed->info;
  logger::info(title(*resumed), "goes on after ", info.position.phase, " of epoch ", info.position.epoch_num, ", step ",
               info.position.steps_done, ", global_step ", info.global_step, ".");
  if (!has_ended_before()) loop.starting_epoch = next_of(resumed_position()).epoch_num;
}

bool Trainer::Impl::has_ended_before() const { return resumed && is_resumed_by_itself && resumed->info.is_stopped(); }

void Trainer::Impl::restore() {
  restore_variables();
  restore_callbacks();
}

void Trainer::Impl::restore_variables() const {
  const bool accepts_others = context->accepts("graph");
  const auto& lists = graph.collections();
  set_variables(*session, lists.get(kGlobalVariables), resumed->variables, title(*resumed), accepts_others);
  set_variables(*session, lists.get(kLocalVariables), resumed->local_variables, title(*resumed), accepts_others);
}

void Trainer::Impl::restore_callbacks() try {
  State s = State::from_bytes(resumed->state);
  std::vector<std::string> saved;
  s("callbacks", saved);
  const auto keys = callback_keys(group->list());
  std::set<std::string> left(saved.begin(), saved.end());
  for (size_t i = 0; i < keys.size(); ++i) {
    if (left.erase(keys[i]) == 0) {
      logger::warn(title(*resumed), "has no state of callback '", keys[i], "', which begins anew.");
      continue;
    }
    try {
      s(keys[i], *group->list()[i]);
    } catch (Error& e) {
      e.add_context(str("in the state of callback '", keys[i], "'"));
      throw;
    }
  }
  for (const std::string& key : left) logger::warn(title(*resumed), "its state of callback '", key, "' is not needed.");
  commit_point.state(s);
} catch (Error& e) {
  e.add_context(str("in the state in '", resumed->info.path, "'"));
  throw;
}

LoopPosition Trainer::Impl::resumed_position() const {
  const auto keys = callback_keys(group->list());
  LoopPosition at = resumed->info.position;
  const std::string& next = resumed->info.next_callback;
  const auto found = std::find(keys.begin(), keys.end(), next);
  MARTELLO_CHECK(next.empty() || found != keys.end(), title(*resumed), "was saved before the turn of callback '", next,
                 "', which this run has not.", did_you_mean(next, keys), " Add it.");
  at.next_callback = static_cast<size_t>(found - keys.begin());
  return at;
}

LoopPosition Trainer::Impl::next_of(const LoopPosition& done) const {
  const size_t all = group->list().size();
  const bool is_whole = done.next_callback >= all;
  switch (done.phase) {
    case Phase::before_train: return {loop.starting_epoch, 0, Phase::before_epoch, 0};
    case Phase::before_epoch: return is_whole ? LoopPosition{done.epoch_num, 0, Phase::trigger_step, all} : done;
    case Phase::trigger_step: return done;
    case Phase::after_epoch:
      return is_whole ? LoopPosition{done.epoch_num, done.steps_done, Phase::trigger_epoch, 0} : done;
    case Phase::trigger_epoch: return is_whole ? LoopPosition{done.epoch_num + 1, 0, Phase::before_epoch, 0} : done;
    default: break;
  }
  throw FailedPrecondition(str("[resume] a run that was stopped in ", done.phase,
                               ", in the middle of a step, cannot go on there. Take the checkpoint before it."));
}

bool Trainer::Impl::start() {
  const size_t done = group->run(Phase::before_train, [this] { return is_interrupted(); });
  if (done < group->list().size()) return false;
  if (!resumed) {
    commit(Phase::before_train, done);
    return !is_ending();
  }
  restore();  // what before_train did once more leaves no trace
  committed = position = resumed_position();
  position_step = resumed->info.global_step;
  is_end_told = true;  // nothing was trained since
  loop.epoch_num = position->epoch_num;
  steps_done = position->steps_done;
  loop.local_step = (steps_done == 0 && resumed->info.global_step > 0 ? loop.steps_per_epoch : steps_done) - 1;
  resumed = Checkpoint{.info = resumed->info};
  return !is_ending();
}

}  // namespace martello
