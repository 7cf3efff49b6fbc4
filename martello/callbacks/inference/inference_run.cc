#include <martello/base/error.h>
#include <martello/callbacks/inference/internal/inference_runner_impl.h>
#include <martello/callbacks/inference/internal/progress.h>
#include <martello/loop/interrupt.h>

#include <limits>
#include <set>

namespace martello {

void InferenceRunner::Impl::rehearse(Session& plain) try {
  tower->set_silent(true);
  input->reset_state();
  HookedSession hooked(plain, hooks());
  run_one(hooked);
  tower->set_silent(false);
} catch (Error& e) {
  e.add_context(str("in the rehearsal of inference '", options.tower_name, "', before training"));
  throw;
}

// False at the end of the data.
bool InferenceRunner::Impl::run_one(HookedSession& hooked) const try {
  hooked.execute(Fetches());
  if (hooked.should_stop()) throw StopTraining(str("a hook of inference '", options.tower_name, "' requested it"));
  return true;
} catch (const StopTraining&) {
  for (const auto& h : input_hooks)
    if (h->has_ended()) return false;
  throw;
}

// The number of datapoints; none when a signal came.
std::optional<int64_t> InferenceRunner::Impl::run_all() {
  constexpr int64_t kNoLimit = std::numeric_limits<int64_t>::max();
  const std::optional<int64_t> size = input->size();
  const int64_t limit = is_flow ? kNoLimit : size.value_or(kNoLimit);
  internal::DataProgress progress(where() + "datapoint", size);
  tower->reset();
  for (const Ref<Inferencer>& i : inferencers) i->before_inference();
  input->reset_state();
  int64_t done = 0;
  try {
    for (; done < limit && interrupt_signal() == 0; ++done) {
      if (!run_one(*session)) break;
      progress.show(done + 1);
    }
  } catch (const StopTraining&) {
    throw;
  } catch (Error& e) {
    e.add_context(str("in datapoint ", done, " of inference '", options.tower_name, "'"));
    throw;
  }
  if (interrupt_signal() != 0) return std::nullopt;
  check_count(done);
  return done;
}

void InferenceRunner::Impl::check_count(int64_t done) const {
  const auto size = input->size();
  MARTELLO_CHECK(!size || done == *size, where(), "its data gave ", done, " datapoints but says that it has ", *size,
                 ". Correct size(), or leave it unknown.");
}

Scalars InferenceRunner::Impl::collect() const {
  Scalars all;
  std::set<std::string> names;
  for (const Ref<Inferencer>& i : inferencers)
    for (auto& [scalar, value] : i->after_inference()) {
      MARTELLO_CHECK(names.insert(scalar).second, where(), "two of its inferencers give the scalar '", scalar,
                     "'; the second is '", i->name(), "'. Give it another name.");
      all.emplace_back(prefixed(scalar), value);
    }
  return all;
}

}  // namespace martello
