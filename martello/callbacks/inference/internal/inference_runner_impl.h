#pragma once
#include <martello/callbacks/inference/inference_runner.h>
#include <martello/callbacks/inference/internal/inference_hooks.h>
#include <martello/callbacks/inference/internal/inference_tower.h>
#include <martello/graph/collections.h>
#include <martello/loop/callback_group.h>

namespace martello {

struct InferenceRunner::Impl {
  Impl(Ref<InputSource> source, bool ends, std::vector<Ref<Inferencer>> list, const InferenceOptions& o)
      : input(std::move(source)), is_flow(ends), inferencers(std::move(list)), options(o) {}

  Ref<InputSource> input;
  bool is_flow;  // made from a data flow, whose data pass ends
  std::vector<Ref<Inferencer>> inferencers;
  InferenceOptions options;
  std::vector<Ref<RunHook>> extra_hooks;
  std::optional<internal::InferenceTower> tower;
  std::vector<std::unique_ptr<internal::InputHook>> input_hooks;
  std::unique_ptr<CallbackGroup> input_callbacks;
  std::optional<HookedSession> session;

  std::string where() const { return str("[inference '", options.tower_name, "'] "); }
  std::string prefixed(const std::string& name) const {
    return options.prefix.empty() ? name : str(options.prefix, "/", name);
  }
  void check() const;
  void claim_scalars(Collections& collections, const std::vector<std::string>& names) const;
  const std::vector<TensorSpec>& signature(const TrainContext& context) const;
  TowerHandle build_tower(TrainContext& context, const std::string& name, int device,
                          const std::function<TensorList()>& inputs);
  void set_up_input(TrainContext& context);
  std::vector<RunHook*> hooks() const;

  void rehearse(Session& plain);
  bool run_one(HookedSession& hooked) const;
  std::optional<int64_t> run_all();
  void check_count(int64_t done) const;
  Scalars collect() const;
};

}  // namespace martello
