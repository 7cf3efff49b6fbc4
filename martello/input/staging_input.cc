#include <martello/input/staging_input.h>

#include <martello/base/error.h>
#include <martello/base/state.h>
#include <martello/graph/core_ops.h>
#include <martello/graph/node.h>
#include <martello/ops/assign.h>
#include <martello/ops/initializers.h>
#include <martello/ops/variable.h>

namespace martello {

// Moves every staged tensor on by one step with each hooked run.
class StagingInput::Stager : public Callback {
 public:
  explicit Stager(int64_t steps) : steps_(steps) { set_chief_only(false); }
  std::string name() const override { return "StagingInput"; }

  // What the next runs read: v[0] <- v[1] <- ... <- t, all with the values of the run's beginning.
  Tensor stage(Tensor t) {
    check(t);
    std::vector<Variable> kept;
    for (int64_t i = 0; i < steps_; ++i)
      kept.push_back(
          raw_variable(str("staged_", num_staged_, "_", i),
                       {.shape = t.shape(), .dtype = t.dtype(), .initializer = zeros(), .trainable = false}));
    for (size_t i = 0; i + 1 < kept.size(); ++i) moves_.push_back(assign(kept[i], kept[i + 1]));
    moves_.push_back(assign(kept.back(), t));
    ++num_staged_;
    return kept[0];
  }
  void setup_graph() override { move_ = group(moves_, "move"); }
  void before_run(RunContext& run) override {
    for (; num_filled_ < steps_; ++num_filled_) run.sess().run(move_);
    run.fetch(move_);
  }
  void reset() { num_filled_ = 0; }
  void state(State& s) override { s("num_filled", num_filled_); }

 private:
  static void check(const Tensor& t) {
    MARTELLO_CHECK(t.node()->def != &op_placeholder, "[staging_input] '", t.name(),
                   "' is fed from outside, so its next value is not known. Stage a QueueInput or tensors.\n  ",
                   t.node()->context());
    MARTELLO_CHECK(t.shape().is_known(), "[staging_input] '", t.name(), "' is ", t.dtype(), t.shape(),
                   "; what is kept in a variable needs a known shape.\n  ", t.node()->context());
  }

  int64_t steps_;
  int num_staged_ = 0;
  int64_t num_filled_ = 0;
  std::vector<Operation> moves_;
  Operation move_;
};

StagingInput::StagingInput(Ref<InputSource> input, int64_t steps) : input_(std::move(input)), steps_(steps) {
  MARTELLO_CHECK(input_, "[staging_input] its input is null.");
  MARTELLO_CHECK(steps_ >= 1, "[staging_input] stages ", steps_, " steps. Use 1 or more.");
  MARTELLO_CHECK(!dynamic_cast<const StagingInput*>(input_.get()), "[staging_input] its input is a StagingInput.");
}

void StagingInput::setup(const std::vector<TensorSpec>& signature) {
  input_->setup(signature);
  if (input_->stage(steps_)) stager_ = nullptr;
  else stager_ = std::make_shared<Stager>(steps_);
}

TensorList StagingInput::get_input_tensors() {
  const TensorList tensors = input_->get_input_tensors();
  if (!stager_) return tensors;
  TensorList staged;
  for (const Tensor& t : tensors) staged.push_back(stager_->stage(t));
  return staged;
}

CallbackList StagingInput::get_callbacks() {
  CallbackList list = input_->get_callbacks();
  if (stager_) list.push_back(stager_);
  return list;
}

void StagingInput::reset_state() {
  input_->reset_state();
  if (stager_) stager_->reset();
}

}  // namespace martello
