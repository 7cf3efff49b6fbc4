// A convnet on Fashion-MNIST: validation after every epoch, and at the end a plot of loss and error beside the
// statistics, the log and the checkpoints in train_log/fashion_mnist.
//
//   ./dev run                       (or: fashion_mnist [--resume auto|none|CHECKPOINT] [EPOCHS] [STEPS_PER_EPOCH])
//
// Ctrl-C saves and ends; started again, it goes on where it was, bit for bit. A run that has finished is left alone and
// a new one begins.
//
// Data: Debian's package dataset-fashion-mnist. Reaches 93 % test accuracy after 10 epochs, of 7 to 12 seconds each on
// two cores.
#include <martello/martello.h>

#include <charconv>
#include <cmath>
#include <cstdio>
#include <exception>

namespace mt = martello;

namespace {

struct ConvNet : mt::ModelDesc {
  std::vector<mt::TensorSpec> inputs() const override {
    return {{{mt::kUnknown, 28, 28, 1}, mt::f32, "image"}, {{mt::kUnknown}, mt::i32, "label"}};
  }

  mt::Tensor build_graph(mt::TensorList in) const override {
    const auto image = in["image"] * 2 - 1, label = in["label"];
    const mt::ArgScope scope(mt::Conv2D{.filters = 32, .kernel = 3, .activation = mt::relu});
    const auto logits = mt::LinearWrap(image)
                            .conv2d("conv0")
                            .max_pooling("pool0", {.size = 2})
                            .conv2d("conv1")
                            .conv2d("conv2")
                            .max_pooling("pool1", {.size = 2})
                            .conv2d("conv3")
                            .fully_connected("fc0", {.units = 512, .activation = mt::relu})
                            .dropout("drop", {.rate = 0.5})
                            .fully_connected("fc1", {.units = 10})
                            .tensor();
    const auto cost = mt::reduce_mean(mt::sparse_softmax_cross_entropy(logits, label), "cross_entropy_loss");
    const auto error = mt::reduce_mean(mt::prediction_incorrect(logits, label, "incorrect"), "train_error");
    mt::add_moving_summary({cost, error});
    return cost;
  }

  mt::OptimizerRef optimizer() const override {
    return mt::AdamW(mt::get_scalar_var("learning_rate", 0), {.weight_decay = 0.2, .no_decay = ".*/b"});
  }
};

// The learning rate rises in the first fifth of all steps, then falls; a step after the last would have 0.
mt::ScheduledHyperParamSetter up_and_down(int64_t steps) {
  const auto end = static_cast<double>(steps) + 1, top = std::floor(end / 5) + 1;
  return {"learning_rate", {{0, 0}, {top, 4e-3}, {end, 0}}, {.interp = mt::Interp::linear, .step_based = true}};
}

// With `steps` an epoch is that short, and so is its validation; 0: all images.
mt::TrainEnd train(int64_t epochs, int64_t steps, const std::string& resume) {
  const auto [train, all_tests] = mt::data::fashion_mnist();
  const mt::DataFlowRef test = steps > 0 ? all_tests.take(128 * steps) : all_tests;
  mt::TrainConfig config{
      .model = ConvNet(),
      .dataflow = train.shuffle().batch(128),
      .callbacks = {mt::ModelSaver(), mt::InferenceRunner(test.batch(256, {.remainder = true}),
                                                          {mt::ClassificationError("incorrect"),
                                                           mt::ScalarStats({"cross_entropy_loss"})})},
      .max_epoch = epochs,
      .resume = {.from = resume}};
  if (steps > 0) config.steps_per_epoch = steps;
  config.callbacks.push_back(up_and_down(epochs * config.get_steps_per_epoch()));
  mt::SimpleTrainer trainer;
  mt::TrainEnd end = mt::launch_train_with_config(config, trainer);
  if (end.is_success()) {
    const double accuracy = 1 - trainer.monitors().get_latest("validation_error");
    std::printf("test accuracy %.2f %%\n", 100 * accuracy);
  }
  return end;
}

void plot(const std::string& folder) {
  const std::string picture = folder + "/stats.png";
  mt::plot_stats(folder + "/stats.jsonl", picture, {.title = "A convnet on Fashion-MNIST"});
  std::printf("loss and error over time: %s\n", picture.c_str());
}

// The files of a run that goes on are kept; what becomes of others MARTELLO_OLD_RUN says, or whoever sits at the
// terminal.
void set_log_dir(const std::string& dir, const std::string& resume) {
  const bool goes_on = resume == "auto" ? mt::has_unfinished_run(dir) : resume != "none";
  mt::logger::set_logger_dir(dir, goes_on ? mt::logger::OldRun::keep : mt::logger::OldRun::ask);
}

int64_t number_of(const std::string& word) {
  int64_t number = -1;
  const char* end = word.data() + word.size();
  if (std::from_chars(word.data(), end, number).ptr != end || number < 0)
    throw mt::InvalidArgument(
        "'" + word + "' is no number. Usage: fashion_mnist [--resume auto|none|CHECKPOINT] [EPOCHS] [STEPS_PER_EPOCH]");
  return number;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    std::vector<std::string> words(argv + 1, argv + argc);
    std::string resume = "auto";
    if (words.size() >= 2 && words[0] == "--resume") {
      resume = words[1];
      words.erase(words.begin(), words.begin() + 2);
    }
    const auto number = [&](size_t i, int64_t other) { return i < words.size() ? number_of(words[i]) : other; };
    const int64_t epochs = number(0, 10), steps = number(1, 0);
    set_log_dir("train_log/fashion_mnist", resume);
    const mt::TrainEnd end = train(epochs, steps, resume);
    if (end.is_success()) plot(mt::logger::get_logger_dir());
    return end;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}
