#include <martello/train/trainer.h>

#include <martello/base/error.h>
#include <martello/base/log.h>
#include <martello/graph/scopes.h>
#include <martello/loop/internal/class_name.h>
#include <martello/loop/interrupt.h>
#include <martello/tower/tower_func.h>
#include <martello/train/internal/report_start.h>
#include <martello/train/internal/trainer_impl.h>

namespace martello {

Trainer::Trainer(Graph graph) : impl_(make_owned<Impl>(std::move(graph))) {}
Trainer::Trainer(TrainConfig config) : Trainer() { impl_->config = std::move(config); }
Trainer::Trainer(Trainer&&) noexcept = default;
Trainer::~Trainer() = default;

Graph Trainer::graph() const { return impl_->graph; }
const TrainLoop& Trainer::loop() const { return impl_->loop; }

Session& Trainer::sess() {
  if (!impl_->session)
    throw FailedPrecondition("[trainer] sess() is asked for before train() has made it: use it from before_train on.");
  return *impl_->session;
}

HookedSession& Trainer::hooked_sess() {
  if (!impl_->hooked)
    throw FailedPrecondition(
        "[trainer] hooked_sess() is asked for before train() has made it: use it from before_train on.");
  return *impl_->hooked;
}

Monitors& Trainer::monitors() {
  if (!impl_->monitors) throw FailedPrecondition("[trainer] monitors() is asked for before train() has made them.");
  return *impl_->monitors;
}

const TrainConfig& Trainer::config() const {
  if (!impl_->config)
    throw FailedPrecondition(
        "[trainer] was made without a TrainConfig. Give one to the constructor, or train(options).");
  return *impl_->config;
}
bool Trainer::has_config() const { return impl_->config.has_value(); }
const CallbackList& Trainer::registered_callbacks() const { return impl_->registered; }

bool Trainer::register_callback(Ref<Callback> callback, SourceLine line) {
  return with_line(line, [&] {
    MARTELLO_CHECK(callback, "[trainer] register_callback() got a null callback.");
    if (impl_->callbacks_are_fixed)
      throw FailedPrecondition(str("[trainer] register_callback('", callback->name(),
                                   "') after train() has begun: callbacks are fixed once they are set up."));
    if (callback->chief_only() && !is_chief()) {
      logger::warn("[trainer] callback '", callback->name(), "' is chief-only and skipped on this process.");
      return false;
    }
    impl_->registered.push_back(std::move(callback));
    return true;
  });
}

void Trainer::register_callbacks(const CallbackList& callbacks, SourceLine line) {
  for (const Ref<Callback>& c : callbacks) register_callback(c, line);
}

OnlinePredictor Trainer::make_predictor(const std::vector<std::string>&, const std::vector<std::string>&, int) {
  throw FailedPrecondition("[get_predictor] this trainer has no tower function. Use a TowerTrainer.");
}
TowerHandle Trainer::make_predict_tower(std::string_view name, int, TowerFunc*, const std::function<TensorList()>&) {
  throw FailedPrecondition(
      str("[tower '", name, "'] this trainer has no tower function to build. Use a TowerTrainer."));
}

namespace {

void check_options(const TrainOptions& o) {
  MARTELLO_CHECK(o.steps_per_epoch,
                 "[trainer] .steps_per_epoch is not set. Nothing tells how many steps an epoch has.");
  MARTELLO_CHECK(*o.steps_per_epoch >= 0, "[trainer] .steps_per_epoch is ", *o.steps_per_epoch,
                 " but cannot be below 0.");
  MARTELLO_CHECK(o.max_epoch >= 0, "[trainer] .max_epoch is ", o.max_epoch, " but cannot be below 0.");
}

}  // namespace

TrainEnd Trainer::train(SourceLine line) {
  return train_with_defaults(with_line(line, [&] { return config().options(); }), line);
}

TrainEnd Trainer::train_with_defaults(TrainOptions options, SourceLine line) {
  if (!options.extra_callbacks) options.extra_callbacks = default_callbacks();
  if (!options.monitors) options.monitors = default_monitors();
  return train(std::move(options), line);
}

TrainEnd Trainer::train(TrainOptions options, SourceLine line) {
  with_line(line, [&] {
    if (impl_->was_trained) throw FailedPrecondition("[trainer] train() is called twice: a trainer is trained once.");
    check_options(options);
    if (impl_->graph.is_finalized())
      throw FailedPrecondition("[trainer] its graph is final already, so no callback can add nodes to it.");
  });
  impl_->was_trained = true;
  impl_->loop.steps_per_epoch = *options.steps_per_epoch;
  impl_->loop.starting_epoch = options.starting_epoch;
  impl_->loop.max_epoch = options.max_epoch;
  {
    const GraphScope scope(impl_->graph);
    setup();
  }
  impl_->callbacks_are_fixed = true;
  impl_->handles_signals = options.handle_signals;
  std::optional<InterruptScope> signals;
  if (options.handle_signals) signals.emplace(options.grace_seconds);
  setup_callbacks(options);
  initialize(options);
  return main_loop();
}

void Trainer::setup_callbacks(const TrainOptions& options) {
  CallbackList own = {impl_->step_counter = make<MaintainStepCounter>(impl_->loop)};
  if (is_chief()) {
    const TowerFunc* function = find_tower_func();
    own.push_back(report_start(options, devices(), function ? function->towers().training() : TowerHandles()));
  }
  describe_trainable_variables(impl_->graph);
  const GraphScope scope(impl_->graph);  // callbacks say what they provide by what is in it
  CallbackList list = final_callbacks(impl_->registered, own, options, is_chief());
  std::vector<Ref<Monitor>> accepted;
  for (const Ref<Monitor>& m : options.monitors.value_or(std::vector<Ref<Monitor>>())) {
    MARTELLO_CHECK(m, "[trainer] .monitors[", accepted.size(), "] is null: it was never assigned.");
    if (!is_chief() && m->chief_only()) continue;
    accepted.push_back(m);
    list.push_back(m);
  }
  impl_->monitors = make<Monitors>(std::move(accepted));
  list.push_back(impl_->monitors);
  impl_->accepted = options.resume.accept;
  impl_->context = std::make_unique<TrainerContext>(*this);
  impl_->group = std::make_unique<CallbackGroup>(std::move(list), *impl_->context);
  impl_->group->setup_graph();
}

void Trainer::initialize(const TrainOptions& options) {
  if (options.session_init) {
    const GraphScope scope(impl_->graph);
    options.session_init->setup_graph();
  }
  impl_->parts = {.graph = impl_->graph,
                  .trainer = internal::class_name(typeid(*this)),
                  .devices = devices(),
                  .steps_per_epoch = impl_->loop.steps_per_epoch,
                  .session = options.session,
                  .callbacks = impl_->group->list()};
  impl_->find_resumed(options.resume);
  SessionOptions session = options.session;
  if (impl_->resumed && session.kernel_choice != KernelChoice::fixed)
    session.recorded_choices = KernelChoices::parse(impl_->resumed->kernel_choices);
  impl_->session = std::make_shared<Session>(impl_->graph, session);
  initialize_hooks();
  if (!impl_->hooked)
    throw FailedPrecondition("[trainer] an override of initialize_hooks() does not call Trainer::initialize_hooks().");
  initialize_variables(options.session_init);
  impl_->graph.finalize();
  logger::info("[trainer] the graph is final: ", impl_->graph.size(), " nodes.");
  use_session(impl_->session);
}

void Trainer::initialize_variables(const Ref<SessionInit>& init) {
  if (impl_->resumed) {
    if (init) logger::info("[trainer] .session_init is passed over: the run goes on with a checkpoint.");
    impl_->restore();
  } else if (init && is_chief()) {
    init->run_init(*impl_->session);
  } else if (init) {
    logger::warn("[trainer] .session_init is ignored: this process is not the chief.");
  }
}

void Trainer::initialize_hooks() { impl_->hooked.emplace(*impl_->session, callback_hooks()); }
std::vector<RunHook*> Trainer::callback_hooks() const { return impl_->group->hooks(); }

void Trainer::run_step() {
  if (train_op.is_null()) throw WrongUse("[trainer] has no train_op. Set it before train(), or override run_step().");
  if (impl_->train_fetches.list().empty()) impl_->train_fetches = Fetches(train_op);
  hooked_sess().execute(impl_->train_fetches);
}

}  // namespace martello
