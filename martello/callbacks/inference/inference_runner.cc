#include <martello/callbacks/inference/inference_runner.h>

#include <martello/base/error.h>
#include <martello/base/log.h>
#include <martello/callbacks/inference/internal/inference_runner_impl.h>
#include <martello/input/feed_input.h>
#include <martello/input/staging_input.h>

#include <algorithm>
#include <set>

namespace martello {
namespace {

// What runners of this graph give, and the tower of each.
constexpr CollectionKey<std::string> kGivenScalars{"inference_scalars"}, kGivingTowers{"inference_giving_towers"};
constexpr CollectionKey<std::string> kInferenceTowers{"inference_towers"};

}  // namespace

void InferenceRunner::Impl::check() const {
  MARTELLO_CHECK(!options.tower_name.empty(), "[inference] its tower has no name. Set .tower_name.");
  MARTELLO_CHECK(input, where(), "its input is null: it was never assigned.");
  MARTELLO_CHECK(!dynamic_cast<const StagingInput*>(input.get()), where(),
                 "its input is staged, which keeps datapoints from one time to the next. Give it the input itself.");
  MARTELLO_CHECK(!inferencers.empty(), where(), "has no inferencer, so nothing comes of it.");
  std::set<std::string> scalars;
  for (size_t i = 0; i < inferencers.size(); ++i) {
    MARTELLO_CHECK(inferencers[i], where(), "its inferencer ", i, " is null: it was never assigned.");
    for (const std::string& s : inferencers[i]->provides())
      MARTELLO_CHECK(scalars.insert(s).second, where(), "two of its inferencers give the scalar '", s,
                     "'; the second is '", inferencers[i]->name(), "'. Give it another name.");
  }
}

InferenceRunner::InferenceRunner(DataFlowRef flow, std::vector<Ref<Inferencer>> inferencers,
                                 const InferenceOptions& options, SourceLine line) {
  with_line(line, [&] {
    MARTELLO_CHECK(flow, "[inference '", options.tower_name, "'] its data flow is null: it was never assigned.");
    const Ref<InputSource> input = FeedInput(flow.prefetch({.buffer_bytes = kReadAhead}), {.infinite = false});
    impl_ = make_owned<Impl>(input, true, std::move(inferencers), options);
    impl_->check();
  });
}

InferenceRunner::InferenceRunner(Ref<InputSource> input, std::vector<Ref<Inferencer>> inferencers,
                                 const InferenceOptions& options, SourceLine line)
    : impl_(make_owned<Impl>(std::move(input), false, std::move(inferencers), options)) {
  with_line(line, [&] { impl_->check(); });
}

InferenceRunner::InferenceRunner(InferenceRunner&&) noexcept = default;
InferenceRunner::~InferenceRunner() = default;

std::string InferenceRunner::name() const {
  const std::string& tower = impl_->options.tower_name;
  return tower == InferenceOptions().tower_name ? "InferenceRunner" : str("InferenceRunner(", tower, ")");
}

// The tower is in the graph's text.
std::string InferenceRunner::description() const {
  Impl& r = *impl_;
  std::vector<std::string> parts;
  for (const Ref<Callback>& c : r.input_callbacks ? r.input_callbacks->list() : r.input->get_callbacks())
    parts.push_back(c->description());
  for (const Ref<Inferencer>& i : r.inferencers)
    parts.push_back(str(i->name(), "(", join(i->fetches()), " -> ", join(i->provides()), ")"));
  return str(name(), "(", join(parts), ", device=", r.options.device, ", prefix=", r.options.prefix, ")");
}

std::vector<std::string> InferenceRunner::provides() const {
  std::vector<std::string> names;
  for (const auto& i : impl_->inferencers)
    for (const std::string& n : i->provides()) names.push_back(impl_->prefixed(n));
  return names;
}

void InferenceRunner::register_hook(Ref<RunHook> hook, SourceLine line) {
  with_line(line, [&] {
    MARTELLO_CHECK(hook, impl_->where(), "register_hook() got a null hook.");
    if (impl_->session)
      throw FailedPrecondition(
          str(impl_->where(), "register_hook('", hook->hook_name(), "') after training has begun."));
  });
  impl_->extra_hooks.push_back(std::move(hook));
}

// Two values under one name would overwrite each other.
void InferenceRunner::Impl::claim_scalars(Collections& collections, const std::vector<std::string>& names) const {
  const auto given = collections.get(kGivenScalars), towers = collections.get(kGivingTowers);
  for (const std::string& name : names) {
    const auto found = std::find(given.begin(), given.end(), name);
    MARTELLO_CHECK(found == given.end(), where(), "gives the scalar '", name, "', and so does inference '",
                   towers[static_cast<size_t>(found - given.begin())], "'. Set .prefix, or another name.");
    collections.add(kGivenScalars, name);
    collections.add(kGivingTowers, options.tower_name);
  }
}

const std::vector<TensorSpec>& InferenceRunner::Impl::signature(const TrainContext& context) const {
  return options.tower_func ? options.tower_func->input_signature() : context.input_signature();
}

TowerHandle InferenceRunner::Impl::build_tower(TrainContext& context, const std::string& name, int device,
                                               const std::function<TensorList()>& inputs) {
  Collections& collections = context.graph().collections();
  const auto built = collections.get(kInferenceTowers);
  const bool is_taken = context.towers().find(name) || std::find(built.begin(), built.end(), name) != built.end();
  MARTELLO_CHECK(!is_taken, where(), "there is a tower '", name,
                 "' already. Several runners need different names: set .tower_name.");
  collections.add(kInferenceTowers, name);
  return context.build_predict_tower(name, device, options.tower_func ? &*options.tower_func : nullptr, inputs);
}

void InferenceRunner::Impl::set_up_input(TrainContext& context) {
  const CallbackList callbacks = input->get_callbacks();
  input_callbacks = std::make_unique<CallbackGroup>(callbacks, context);
  input_callbacks->setup_graph();
  for (const Ref<Callback>& c : callbacks) input_hooks.push_back(std::make_unique<internal::InputHook>(*c));
}

void InferenceRunner::setup_graph() {
  Impl& r = *impl_;
  MARTELLO_CHECK(r.input->size() != 0, r.where(), "its data has no datapoint.");
  r.claim_scalars(context().graph().collections(), provides());
  r.input->setup(r.signature(context()));
  r.tower.emplace(
      r.build_tower(context(), r.options.tower_name, r.options.device, [&] { return r.input->get_input_tensors(); }),
      r.inferencers);
  r.set_up_input(context());
}

std::vector<RunHook*> InferenceRunner::Impl::hooks() const {
  std::vector<RunHook*> list = tower->hooks();
  for (const auto& h : input_hooks) list.push_back(h.get());
  return list;
}

void InferenceRunner::before_train() {
  Impl& r = *impl_;
  std::vector<RunHook*> hooks = r.hooks();
  for (const auto& h : r.extra_hooks) hooks.push_back(h.get());
  r.session.emplace(sess(), hooks);
  // A flow begins with every trigger; here it would read ahead for nothing.
  if (!r.is_flow) r.input_callbacks->run(Phase::before_train);
  if (r.input_callbacks->stop_reason()) throw StopTraining(*r.input_callbacks->stop_reason());
  if (r.options.rehearse) r.rehearse(sess());
  const auto size = r.input->size();
  if (size) logger::info(r.where(), *size, " datapoints each time.");
  else logger::info(r.where(), "the size of its data is not known: each time it runs until the data ends.");
}

void InferenceRunner::put_results() {
  const Impl& r = *impl_;
  for (const auto& [scalar, value] : r.collect()) monitors().put_scalar(scalar, value);
  for (const Ref<Inferencer>& i : r.inferencers) i->report(monitors(), r.prefixed(""));
}

void InferenceRunner::trigger() {
  Impl& r = *impl_;
  const std::optional<int64_t> done = r.run_all();
  if (!done) throw CancelledTurn(str(r.where(), "is left without results: a signal has come."));
  if (*done == 0) return logger::warn(r.where(), "its data gave no datapoint, so there are no results.");
  logger::detail("inference", r.where(), *done, " datapoints, ", r.tower->samples(), " samples.");
  put_results();
}

void InferenceRunner::after_train() {
  if (!impl_->input_callbacks) return;
  const std::exception_ptr error = impl_->input_callbacks->after_train();
  if (error) std::rethrow_exception(error);
}

}  // namespace martello
