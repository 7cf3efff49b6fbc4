#pragma once
#include <martello/runtime/session.h>

#include <memory>
#include <vector>

namespace martello {

// Runs a predict tower in a session. A small value; copies share everything. Any number of threads may call it at once.
class OnlinePredictor {
 public:
  OnlinePredictor() = default;  // of nothing: calling it is an error
  OnlinePredictor(TensorList inputs, TensorList outputs);

  // One value per input, in order; one per output. Before use_session() an error.
  HostTensors operator()(const std::vector<HostTensor>& inputs) const;

  // Gives all copies their session; by the trainer, when it has one.
  void use_session(std::shared_ptr<Session> session);
  bool has_session() const;
  const TensorList& inputs() const;
  const TensorList& outputs() const;
  explicit operator bool() const { return impl_ != nullptr; }

 private:
  struct Impl;
  const Impl& get() const;
  std::shared_ptr<Impl> impl_;
};

}  // namespace martello
