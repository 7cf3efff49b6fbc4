#pragma once
#include <martello/tower/tower_func.h>
#include <martello/train/trainer.h>

#include <optional>

namespace martello {

// A trainer whose model is a tower function: it can be built again for another device, or for inference.
class TowerTrainer : public Trainer {
 public:
  using Trainer::Trainer;
  TowerTrainer(TowerTrainer&&) noexcept;
  ~TowerTrainer() override;

  // Of all towers built so far, in order; an error before there is a tower function.
  TowerHandles towers() const;
  const std::vector<TensorSpec>& input_signature() const;
  // Builds one predict tower per device, at the first call; the same names give the same predictor. Before the graph is
  // final, or when that device's tower exists. It can be called once train() has made the session.
  OnlinePredictor get_predictor(const std::vector<std::string>& inputs, const std::vector<std::string>& outputs,
                                int device = 0);

 protected:
  // Once.
  void set_tower_func(TowerFunc function);
  TowerFunc& tower_func() const;
  TowerFunc* find_tower_func() const override;
  OnlinePredictor make_predictor(const std::vector<std::string>& inputs, const std::vector<std::string>& outputs,
                                 int device) override;
  TowerHandle make_predict_tower(std::string_view name, int device, TowerFunc* function,
                                 const std::function<TensorList()>& inputs) override;
  void use_session(const std::shared_ptr<Session>& session) override;

 private:
  struct Predictors;
  std::shared_ptr<TowerFunc> tower_func_;
  std::shared_ptr<Predictors> predictors_;
};

}  // namespace martello
