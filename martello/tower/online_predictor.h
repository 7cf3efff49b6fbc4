#pragma once
#include <martello/runtime/session.h>
#include <martello/tower/predictor_base.h>

#include <memory>

namespace martello {

// Tensors of a graph in a session: feeds the inputs, fetches the outputs. Any tensor can be an input. A small value;
// copies share everything.
class OnlinePredictor : public PredictorBase {
 public:
  OnlinePredictor() = default;  // of nothing: calling it is an error
  // Without a session until use_session(): calling it before is an error.
  OnlinePredictor(TensorList inputs, TensorList outputs, std::shared_ptr<Session> session = nullptr);

  // Gives all copies their session; by the trainer, when it has one.
  void use_session(std::shared_ptr<Session> session);
  bool has_session() const;
  std::shared_ptr<Session> session() const;  // null before use_session()
  const TensorList& inputs() const;
  const TensorList& outputs() const;
  explicit operator bool() const { return impl_ != nullptr; }

 protected:
  HostTensors predict(const std::vector<HostTensor>& inputs) const override;

 private:
  struct Impl;
  const Impl& get() const;
  std::shared_ptr<Impl> impl_;
};

}  // namespace martello
