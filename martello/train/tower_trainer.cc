#include <martello/train/tower_trainer.h>

#include <martello/base/error.h>
#include <martello/base/log.h>
#include <martello/graph/core_ops.h>
#include <martello/graph/scopes.h>
#include <martello/tensor/device.h>

#include <mutex>

namespace martello {

// The predictors made so far; asking for one again is free.
struct TowerTrainer::Predictors {
  struct Entry {
    std::vector<std::string> inputs, outputs;
    int device;
    OnlinePredictor predictor;
  };
  std::mutex mutex;
  std::vector<Entry> entries;
  std::shared_ptr<Session> session;
};

TowerTrainer::TowerTrainer(TowerTrainer&&) noexcept = default;
TowerTrainer::~TowerTrainer() = default;

void TowerTrainer::set_tower_func(TowerFunc function) {
  if (tower_func_) throw FailedPrecondition("[trainer] its tower function is set twice: the graph is built once.");
  tower_func_ = std::make_shared<TowerFunc>(std::move(function));
}

TowerFunc* TowerTrainer::find_tower_func() const { return tower_func_.get(); }

TowerFunc& TowerTrainer::tower_func() const {
  if (!tower_func_)
    throw FailedPrecondition("[trainer] has no tower function yet. Call setup_graph() or set_tower_func() first.");
  return *tower_func_;
}

TowerHandles TowerTrainer::towers() const { return tower_func().towers(); }
const std::vector<TensorSpec>& TowerTrainer::input_signature() const { return tower_func().input_signature(); }

namespace {

struct Place {
  std::string device;
  std::string variable_scope;
};

Device parse_device(const std::string& text) { return text.empty() ? Device{} : Device::parse(text); }

// Where device number `number` is, and whose variables a tower there reads: those of the training tower on the same
// device, else those of the first one.
Place place_of(int number, const std::vector<std::string>& devices, const TowerHandles& training) {
  const std::string first_scope = training.empty() ? "" : training[0].variable_scope();
  if (number < 0) return {Device{}.str(), first_scope};
  for (size_t i = 0; i < devices.size(); ++i)
    if (parse_device(devices[i]).index == number)
      return {devices[i], i < training.size() ? training[i].variable_scope() : first_scope};
  Device device = devices.empty() ? Device{} : parse_device(devices[0]);
  device.index = number;
  return {device.str(), first_scope};
}

}  // namespace

TowerHandle TowerTrainer::make_predict_tower(std::string_view name, int device, TowerFunc* other,
                                             const std::function<TensorList()>& inputs) {
  TowerFunc& function = other ? *other : tower_func();
  if (graph().is_finalized())
    throw FailedPrecondition(str("[tower '", name, "'] cannot be built: the graph is final. Build it in setup_graph."));
  const Place place = place_of(device, devices(), towers().training());
  const GraphScope scope(graph());
  const DeviceScope on(place.device);
  const VariableScope reuse("", Reuse::yes);
  const TowerContext tower(name, false, {.variable_scope = place.variable_scope});
  function(inputs());
  logger::info("[tower '", name, "'] built for inference", place.device.empty() ? "" : " on ", place.device, ".");
  return function.towers()[function.towers().size() - 1];
}

OnlinePredictor TowerTrainer::make_predictor(const std::vector<std::string>& inputs,
                                             const std::vector<std::string>& outputs, int device) {
  if (!predictors_) predictors_ = std::make_shared<Predictors>();
  std::lock_guard lock(predictors_->mutex);
  for (const auto& e : predictors_->entries)
    if (e.inputs == inputs && e.outputs == outputs && e.device == device) return e.predictor;
  const std::string name = device < 0 ? "tower-pred-cpu" : str("tower-pred-", device);
  const TowerHandles built = tower_func().towers();
  const TowerHandle* found = built.find(name);
  const TowerHandle tower = found ? *found : make_predict_tower(name, device, nullptr, [&] {
    TensorList list;
    for (const TensorSpec& s : input_signature()) list.push_back(placeholder(s.shape, s.dtype, Name(s.name, s.line)));
    return list;
  });
  OnlinePredictor predictor(tower.get_tensors(inputs, {}), tower.get_tensors(outputs, {}));
  if (predictors_->session) predictor.use_session(predictors_->session);
  predictors_->entries.push_back({inputs, outputs, device, predictor});
  return predictor;
}

OnlinePredictor TowerTrainer::get_predictor(const std::vector<std::string>& inputs,
                                            const std::vector<std::string>& outputs, int device) {
  return make_predictor(inputs, outputs, device);
}

void TowerTrainer::use_session(const std::shared_ptr<Session>& session) {
  if (!predictors_) predictors_ = std::make_shared<Predictors>();
  std::lock_guard lock(predictors_->mutex);
  predictors_->session = session;
  for (auto& e : predictors_->entries) e.predictor.use_session(session);
}

}  // namespace martello
