#include <martello/input/tensor_input.h>

#include <martello/base/error.h>
#include <martello/base/log.h>
#include <martello/graph/core_ops.h>
#include <martello/graph/node.h>
#include <martello/input/internal/signature_check.h>

namespace martello {

TensorInput::TensorInput(std::function<TensorList()> get_tensors, std::optional<int64_t> size)
    : get_tensors_(std::move(get_tensors)), size_(size) {
  MARTELLO_CHECK(get_tensors_, "[tensor_input] its function is empty.");
  MARTELLO_CHECK(!size_ || *size_ > 0, "[tensor_input] has a size of ", *size_, ". Leave it out when it is not known.");
}

void TensorInput::setup(const std::vector<TensorSpec>& signature) { signature_ = signature; }

TensorList TensorInput::get_input_tensors() {
  const TensorList tensors = get_tensors_();
  MARTELLO_CHECK(tensors.size() == signature_.size(), "[tensor_input] its function gives ", tensors.size(),
                 " tensors but the signature has ", signature_.size(), " inputs ", internal::signature_text(signature_),
                 ".");
  for (size_t i = 0; i < signature_.size(); ++i) {
    const TensorSpec& wanted = signature_[i];
    const Tensor given = tensors[i];
    MARTELLO_CHECK(!given.is_null(), "[tensor_input] tensor ", i, " for input '", wanted.name, "' is null.");
    MARTELLO_CHECK(given.dtype() == wanted.dtype && internal::fits(wanted.shape, given.shape()), "[tensor_input] '",
                   given.name(), "' is ", given.dtype(), given.shape(), " but input '", wanted.name,
                   "' of the signature is ", wanted, ".\n  ", given.node()->context());
  }
  return tensors;
}

// Fed, not constants of the graph: what a constant reaches would be computed once and not in every step.
class DummyConstantInput::Feeder : public Callback {
 public:
  Feeder() { set_chief_only(false); }
  std::string name() const override { return "DummyConstantInput"; }
  void setup(const std::vector<TensorSpec>& signature, const std::vector<Shape>& shapes) {
    signature_ = signature;
    placeholders_.clear();
    zeros_.clear();
    for (size_t i = 0; i < signature.size(); ++i) zeros_.emplace_back(shapes[i], signature[i].dtype);
  }
  TensorList add_tower() {
    TensorList tensors;
    for (const TensorSpec& s : signature_) tensors.push_back(placeholder(s.shape, s.dtype, Name(s.name, s.line)));
    placeholders_.push_back(tensors);
    return tensors;
  }
  void before_run(RunContext& run) override {
    for (const TensorList& tower : placeholders_)
      for (size_t i = 0; i < zeros_.size(); ++i) run.feed(tower.vector()[i], zeros_[i]);
  }

 private:
  std::vector<TensorSpec> signature_;
  std::vector<TensorList> placeholders_;  // by tower
  HostTensors zeros_;
};

DummyConstantInput::DummyConstantInput(std::vector<Shape> shapes)
    : shapes_(std::move(shapes)), feeder_(std::make_shared<Feeder>()) {}

void DummyConstantInput::setup(const std::vector<TensorSpec>& signature) {
  std::vector<Shape> shapes = shapes_;
  if (shapes.empty())
    for (const TensorSpec& s : signature) shapes.push_back(s.shape);
  MARTELLO_CHECK(shapes.size() == signature.size(), "[dummy_constant_input] has ", shapes.size(),
                 " shapes but the signature has ", signature.size(), " inputs ", internal::signature_text(signature),
                 ".");
  for (size_t i = 0; i < signature.size(); ++i) {
    MARTELLO_CHECK(shapes[i].is_known(), "[dummy_constant_input] input '", signature[i].name, "' is ", signature[i],
                   " and its shape is not given. Give one without unknown dimensions.");
    MARTELLO_CHECK(internal::fits(signature[i].shape, shapes[i]), "[dummy_constant_input] the shape of input '",
                   signature[i].name, "' is ", shapes[i], " but the signature has ", signature[i], ".");
  }
  logger::warn("[dummy_constant_input] trains on zeros. It is made for measuring speed.");
  feeder_->setup(signature, shapes);
}

TensorList DummyConstantInput::get_input_tensors() { return feeder_->add_tower(); }
CallbackList DummyConstantInput::get_callbacks() { return {feeder_}; }

}  // namespace martello
