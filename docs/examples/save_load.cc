// The examples of docs/save-load.md and docs/resume.md: a small run is saved, interrupted, resumed, and its weights are
// taken elsewhere.
#include <martello/martello.h>

#include <cstdio>
#include <filesystem>

namespace mt = martello;

namespace {

// y = 2 x + 1, learned with noise.
struct Line : mt::ModelDesc {
  std::vector<mt::TensorSpec> inputs() const override {
    return {{{mt::kUnknown, 1}, mt::f32, "x"}, {{mt::kUnknown, 1}, mt::f32, "y"}};
  }
  mt::Tensor build_graph(mt::TensorList in) const override {
    const auto prediction = mt::fully_connected("fc", mt::dropout("drop", in["x"], {.rate = 0.1}), {.units = 1});
    return mt::reduce_mean(mt::square(prediction - in["y"]), "cost");
  }
  mt::OptimizerRef optimizer() const override { return mt::Adam(0.05); }
};

mt::DataFlowRef points() {
  return mt::data::from_index(400, [](int64_t, mt::Rng& rng) {
    const auto x = static_cast<float>(rng.uniform());
    return mt::Datapoint(mt::HostTensor::of<float>({x}), mt::HostTensor::of<float>({2 * x + 1}));
  });
}

mt::TrainConfig saving_example() {
  return {.model = Line(),
          .dataflow = points().shuffle().batch(20),
          .callbacks = {mt::ModelSaver({.max_to_keep = 3, .keep_every_epochs = 10}),
                        mt::InferenceRunner(points().batch(20), {mt::ScalarStats({"cost"})}),
                        mt::MinSaver("validation_cost")},
          .max_epoch = 4};
}

mt::TrainEnd resume_example(const std::string& dir) {
  mt::logger::set_logger_dir(dir, mt::logger::OldRun::keep);
  mt::AutoResumeTrainConfig config(saving_example());
  return mt::launch_train_with_config(config, mt::SimpleTrainer());
}

// "auto", "none" or the path of a checkpoint, from the command line.
mt::TrainEnd knob_example(const std::string& resume) {
  mt::TrainConfig config = saving_example();
  config.max_epoch = 6;
  config.resume = {.from = resume, .accept = {"callbacks"}};
  return mt::launch_train_with_config(config, mt::SimpleTrainer());
}

void files_example(const std::string& dir) {
  for (const mt::CheckpointFile& file : mt::list_checkpoints(dir)) {
    if (!file.info) std::printf("%s: %s\n", file.path.c_str(), file.why.c_str());
    else std::printf("%s: step %lld\n", file.path.c_str(), static_cast<long long>(file.info->global_step));
  }
  mt::verify_checkpoint(mt::get_checkpoint_path(dir));  // throws when a bit has changed
}

void values_example(const std::string& dir) {
  mt::ValueMap values = mt::load_checkpoint_vars(dir + "/min-validation_cost.safetensors");
  values["fc/b"].set(0, 1.0);
  mt::save_checkpoint_vars(values, dir + "/weights.npz");  // for NumPy; .safetensors for everybody
}

mt::TrainEnd warm_start_example(const std::string& dir) {
  mt::TrainConfig config = saving_example();
  config.session_init = mt::ChainInit(
      {mt::SmartInit(dir + "/weights.npz"), mt::DictRestore({{"global_step", mt::HostTensor(int64_t{0})}})});
  return mt::launch_train_with_config(config, mt::SimpleTrainer());
}

}  // namespace

int main() {
  const std::string dir = (std::filesystem::temp_directory_path() / "martello_docs_save_load").string();
  std::filesystem::remove_all(dir);
  int code = resume_example(dir);
  code |= resume_example(dir);  // has finished: nothing is left to do
  code |= knob_example("auto");
  files_example(dir);
  values_example(dir);
  mt::logger::set_logger_dir(dir + "/warm");
  code |= warm_start_example(dir);
  mt::logger::close_logger_dir();
  std::filesystem::remove_all(dir);
  return code;
}
