#include <martello/predict/feedfree_predictor.h>

#include <martello/base/log.h>
#include <martello/callbacks/inference/internal/inference_hooks.h>
#include <martello/graph/scopes.h>
#include <martello/loop/callback_group.h>
#include <martello/predict/internal/predict_context.h>
#include <martello/predict/internal/predict_graph.h>

#include <mutex>

namespace martello {

struct FeedfreePredictor::Impl {
  Impl(PredictConfig config, Ref<InputSource> source);
  ~Impl();
  void start(internal::PredictGraph& graph);

  std::mutex mutex;  // a source gives one datapoint at a time
  Ref<InputSource> input;
  Fetches fetches;
  std::unique_ptr<internal::PredictContext> context;
  std::unique_ptr<CallbackGroup> callbacks;
  std::vector<std::unique_ptr<internal::InputHook>> hooks;
};

FeedfreePredictor::Impl::Impl(PredictConfig config, Ref<InputSource> source) : input(std::move(source)) {
  MARTELLO_CHECK(input, "[predict] its input is null: it was never assigned.");
  internal::PredictGraph graph(std::move(config));
  {
    const GraphScope scope(graph.graph());
    input->setup(graph.signature());
  }
  const TowerHandle tower = graph.add_tower("", -1, [&] { return input->get_input_tensors(); });
  fetches = Fetches(graph.outputs_of(tower));
  start(graph);
}

void FeedfreePredictor::Impl::start(internal::PredictGraph& graph) {
  const CallbackList list = input->get_callbacks();
  context = std::make_unique<internal::PredictContext>(graph.graph(), graph.signature());
  callbacks = std::make_unique<CallbackGroup>(list, *context);
  {
    const GraphScope scope(graph.graph());
    callbacks->setup_graph();
  }
  std::vector<RunHook*> pointers;
  for (const Ref<Callback>& c : list)
    pointers.push_back(hooks.emplace_back(std::make_unique<internal::InputHook>(*c)).get());
  context->use_session(graph.open(), pointers);
  callbacks->run(Phase::before_train);
}

FeedfreePredictor::Impl::~Impl() {
  if (callbacks && callbacks->after_train()) logger::error("[predict] its input could not be closed.");
}

FeedfreePredictor::FeedfreePredictor(PredictConfig config, Ref<InputSource> input, SourceLine line) {
  with_line(line, [&] { impl_ = make_owned<Impl>(std::move(config), std::move(input)); });
}
FeedfreePredictor::FeedfreePredictor(FeedfreePredictor&&) noexcept = default;
FeedfreePredictor::~FeedfreePredictor() = default;

HostTensors FeedfreePredictor::operator()() {
  const std::lock_guard lock(impl_->mutex);
  return impl_->context->hooked_sess().run(impl_->fetches);
}

void FeedfreePredictor::reset() {
  const std::lock_guard lock(impl_->mutex);
  impl_->input->reset_state();
}

}  // namespace martello
