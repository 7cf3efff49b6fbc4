// A small DCGAN (Radford et al., 2015) draws clothes after Fashion-MNIST. After every epoch it writes a grid of 64
// images, always of the same noise, to train_log/gan/samples-*.png. Clothes can be told apart after a few epochs, of
// less than half a minute each on two cores.
//
//   ./dev run gan [--separate] [--resume auto|none|CHECKPOINT] [EPOCHS] [STEPS_PER_EPOCH]
//
// Ctrl-C saves and ends; started again, it goes on where it was, bit for bit. A run that has finished is left alone and
// a new one begins.
//
// GANTrainer updates generator and discriminator on the same images; with --separate each learns in a run and on images
// of its own (SeparateGANTrainer). Data: Debian's package dataset-fashion-mnist.
#include <martello/martello.h>

#include <charconv>
#include <cstdio>
#include <cstring>
#include <exception>
#include <fstream>
#include <vector>

namespace mt = martello;

namespace {

constexpr int64_t kBatch = 64, kNoise = 64, kSide = 28, kGrid = 8;

class DCGAN : public mt::GANModelDesc {
 public:
  explicit DCGAN(bool separate) : separate_(separate) {}

  std::vector<mt::TensorSpec> inputs() const override { return {{{mt::kUnknown, kSide, kSide, 1}, mt::f32, "image"}}; }

  mt::GANLosses build_graph(mt::TensorList in) const override {
    const mt::Tensor real = in["image"] * 2 - 1, fake = generator(noise());
    mt::multiply(fake + 1, 127.5, "samples");
    const mt::GANLosses losses = mt::gan_losses(discriminator(real), discriminator(fake));
    mt::add_moving_summary({losses.g_loss, losses.d_loss});
    return losses;
  }

  mt::OptimizerRef optimizer() const override { return mt::Adam(1e-3, {.beta1 = 0.5}); }

 private:
  // Always the same in inference, so that grids of two epochs can be compared.
  static mt::Tensor noise() {
    if (mt::get_current_tower_context().is_training())
      return mt::random_uniform({kBatch, kNoise}, {.low = -1, .high = 1}, "z");
    mt::HostTensor fixed({kGrid * kGrid, kNoise}, mt::f32);
    mt::Rng rng(2015);
    for (float& v : fixed.mutable_data<float>()) v = static_cast<float>(2 * rng.uniform() - 1);
    return mt::constant(fixed, "z");
  }

  mt::Tensor generator(mt::Tensor z) const {
    const mt::VariableScope scope("gen");
    // With a run for each cost, the averages belong to the runs that use them.
    const mt::ArgScope args(
        mt::BatchNorm{.ema_update = separate_ ? mt::EmaUpdate::internal : mt::EmaUpdate::collection},
        mt::Conv2D{.kernel = 4, .stride = 2, .kernel_init = mt::truncated_normal(0.02)});
    const mt::Tensor x = mt::fully_connected("fc0", z, {.units = 7 * 7 * 64});
    return mt::LinearWrap(mt::reshape(x, {-1, 7, 7, 64}))
        .batch_norm("bn0")
        .apply(mt::relu, "relu0")
        .conv2d_transpose("deconv1", {.filters = 32, .activation = mt::bn_relu})
        .conv2d_transpose("deconv2", {.filters = 1, .activation = mt::tanh})
        .tensor();
  }

  static mt::Tensor discriminator(mt::Tensor image) {
    const mt::VariableScope scope("discrim", mt::Reuse::automatic);
    const mt::ArgScope args(mt::Conv2D{.kernel = 4,
                                       .stride = 2,
                                       .activation = [](mt::Tensor t) { return mt::leaky_relu(t, 0.2); },
                                       .kernel_init = mt::truncated_normal(0.02)});
    return mt::LinearWrap(image)
        .conv2d("conv0", {.filters = 32})
        .conv2d("conv1", {.filters = 64})
        .fully_connected("fc", {.units = 1})
        .tensor();
  }

  bool separate_;
};

// Images [rows * columns, H, W, 1] side by side.
mt::HostTensor grid_of(const mt::HostTensor& images) {
  const mt::HostTensor bytes = images.cast(mt::u8);
  mt::HostTensor grid({kGrid * kSide, kGrid * kSide, 1}, mt::u8);
  const uint8_t* from = bytes.data<uint8_t>().data();
  uint8_t* to = grid.mutable_data<uint8_t>().data();
  for (int64_t i = 0; i < kGrid * kGrid; ++i)
    for (int64_t y = 0; y < kSide; ++y, from += kSide)
      std::memcpy(to + ((i / kGrid * kSide + y) * kGrid + i % kGrid) * kSide, from, kSide);
  return grid;
}

class SampleGrid : public mt::Callback {
 public:
  void setup_graph() override { generate_ = context().get_predictor({}, {"samples"}); }
  void trigger() override {
    const mt::HostTensor grid = grid_of(generate_({})[0]);
    monitors().put_image("samples", grid);
    const std::string path = mt::str(mt::logger::get_logger_dir(), "/samples-", epoch_num(), ".png");
    const std::string png = mt::encode_png(grid);
    std::ofstream file(path, std::ios::binary);
    file.write(png.data(), static_cast<std::streamsize>(png.size()));
    file.close();
    if (!file) throw mt::Error("[gan] cannot write '" + path + "'.");
    mt::logger::info("[gan] ", path);
  }

 private:
  mt::OnlinePredictor generate_;
};

struct Arguments {
  bool separate = false;
  std::string resume = "auto";
  int64_t epochs = 10, steps = 0;
};

int64_t number_of(const std::string& word) {
  int64_t number = -1;
  const char* end = word.data() + word.size();
  if (std::from_chars(word.data(), end, number).ptr != end || number < 0)
    throw mt::InvalidArgument(
        "'" + word +
        "' is no number. Usage: gan [--separate] [--resume auto|none|CHECKPOINT] [EPOCHS] [STEPS_PER_EPOCH]");
  return number;
}

Arguments parse(const std::vector<std::string>& words) {
  Arguments a;
  std::vector<int64_t> numbers;
  for (size_t i = 0; i < words.size(); ++i) {
    if (words[i] == "--separate") a.separate = true;
    else if (words[i] == "--resume" && i + 1 < words.size()) a.resume = words[++i];
    else numbers.push_back(number_of(words[i]));
  }
  if (!numbers.empty()) a.epochs = numbers[0];
  if (numbers.size() > 1) a.steps = numbers[1];
  return a;
}

// The files of a run that goes on are kept; what becomes of others MARTELLO_OLD_RUN says, or whoever sits at the
// terminal.
void set_log_dir(const std::string& dir, const std::string& resume) {
  const bool goes_on = resume == "auto" ? mt::has_unfinished_run(dir) : resume != "none";
  mt::logger::set_logger_dir(dir, goes_on ? mt::logger::OldRun::keep : mt::logger::OldRun::ask);
}

mt::TrainEnd train(const Arguments& a) {
  set_log_dir("train_log/gan", a.resume);
  const mt::DataFlowRef images = mt::data::fashion_mnist().train.shuffle().select({0}).batch(kBatch);
  const int64_t steps = a.steps > 0 ? a.steps : images.size().value();
  mt::Ref<mt::InputSource> input = mt::QueueInput(images);
  const mt::TrainOptions options{.callbacks = {mt::ModelSaver(), SampleGrid()},
                                 .steps_per_epoch = steps,
                                 .max_epoch = a.epochs,
                                 .resume = {.from = a.resume},
                                 .handle_signals = true};
  if (a.separate) return mt::SeparateGANTrainer(input, DCGAN(true)).train_with_defaults(options);
  return mt::GANTrainer(input, DCGAN(false)).train_with_defaults(options);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return train(parse({argv + 1, argv + argc}));
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}
