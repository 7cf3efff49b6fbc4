#include <martello/tower/online_predictor.h>

#include <martello/base/error.h>
#include <martello/base/threads.h>

#include <mutex>
#include <optional>

namespace martello {

struct OnlinePredictor::Impl {
  TensorList inputs, outputs;
  mutable std::mutex mutex;  // of the two below
  std::shared_ptr<Session> session;
  mutable std::vector<PreparedRun> free_runs;  // each is used by one thread at a time

  std::optional<PreparedRun> take_free_run() const {
    std::lock_guard lock(mutex);
    if (free_runs.empty()) return std::nullopt;
    PreparedRun run = std::move(free_runs.back());
    free_runs.pop_back();
    return run;
  }

  PreparedRun prepare() const {
    std::lock_guard lock(mutex);
    if (!session)
      throw FailedPrecondition(
          str("[predictor] is called before there is a session. Call it from before_train on, in a callback."));
    std::vector<Fetch> feeds;
    for (const Tensor& t : inputs) feeds.emplace_back(t);
    return session->prepare(Fetches(outputs), feeds);
  }

  void give_back(PreparedRun run) const {
    std::lock_guard lock(mutex);
    free_runs.push_back(std::move(run));
  }
};

namespace {

// ": image, label"
std::string names_of(const TensorList& inputs) {
  std::vector<std::string> names;
  for (const Tensor& t : inputs) names.push_back(t.name());
  return names.empty() ? "" : str(": ", join(names));
}

}  // namespace

OnlinePredictor::OnlinePredictor(TensorList inputs, TensorList outputs, std::shared_ptr<Session> session)
    : impl_(std::make_shared<Impl>()) {
  impl_->inputs = std::move(inputs);
  impl_->outputs = std::move(outputs);
  impl_->session = std::move(session);
}

const OnlinePredictor::Impl& OnlinePredictor::get() const {
  if (!impl_) throw FailedPrecondition("[predictor] was never assigned. Make it with get_predictor(), in setup_graph.");
  return *impl_;
}

HostTensors OnlinePredictor::predict(const std::vector<HostTensor>& inputs) const {
  const Impl& impl = get();
  MARTELLO_CHECK(inputs.size() == impl.inputs.size(), "[predictor] got ", inputs.size(), " values for ",
                 impl.inputs.size(), " inputs", names_of(impl.inputs), ".");
  std::optional<PreparedRun> free = impl.take_free_run();
  PreparedRun run = free ? std::move(*free) : impl.prepare();
  for (size_t i = 0; i < inputs.size(); ++i) run.feed(i, inputs[i]);
  run.run();
  // The thread that makes a first call, to have it planned, is often not the one that goes on. Not a matter of the
  // session: whoever prepares a run means to repeat it, and its second run must allocate nothing.
  if (!free) release_team();
  HostTensors values;
  for (size_t i = 0; i < impl.outputs.size(); ++i) values.push_back(run.value(i));
  impl.give_back(std::move(run));
  return values;
}

void OnlinePredictor::use_session(std::shared_ptr<Session> session) {
  get();
  std::lock_guard lock(impl_->mutex);
  impl_->free_runs.clear();
  impl_->session = std::move(session);
}

std::shared_ptr<Session> OnlinePredictor::session() const {
  const Impl& impl = get();
  std::lock_guard lock(impl.mutex);
  return impl.session;
}

bool OnlinePredictor::has_session() const { return session() != nullptr; }

const TensorList& OnlinePredictor::inputs() const { return get().inputs; }
const TensorList& OnlinePredictor::outputs() const { return get().outputs; }

}  // namespace martello
