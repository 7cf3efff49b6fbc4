// ResNet-20 trained on the first images of Fashion-MNIST, step for step as bench/peers/torch_accuracy.py does it; one
// JSON line with the accuracy on all test images.
//   accuracy_resnet20 [--seed 1] [--epochs 4] [--images 10000] [--threads 0] [--data FOLDER]
#include <martello/martello.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <exception>
#include <numeric>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace mt = martello;

namespace {

constexpr int64_t kBatch = 100, kTestBatch = 1000;
constexpr double kRate = 0.1, kMomentum = 0.9, kWeightDecay = 1e-4;
constexpr double kPixelMean = 0.2860, kPixelDeviation = 0.3530;

struct Options {
  int64_t seed = 1, epochs = 4, images = 10000, threads = 0;
  std::string data = "/usr/share/datasets/fashion-mnist";
};

int64_t number_of(std::string_view option, std::string_view text) {
  int64_t value = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  MARTELLO_CHECK(error == std::errc() && end == text.data() + text.size() && value >= 0, "[accuracy] ", option, " is '",
                 text, "', expected a whole number that is not negative.");
  return value;
}

Options parse(int argc, char** argv) {
  Options o;
  for (int i = 1; i < argc; i += 2) {
    const std::string_view option = argv[i];
    MARTELLO_CHECK(i + 1 < argc, "[accuracy] ", option, " has no value.");
    if (option == "--seed") o.seed = number_of(option, argv[i + 1]);
    else if (option == "--epochs") o.epochs = number_of(option, argv[i + 1]);
    else if (option == "--images") o.images = number_of(option, argv[i + 1]);
    else if (option == "--threads") o.threads = number_of(option, argv[i + 1]);
    else if (option == "--data") o.data = argv[i + 1];
    else
      throw mt::InvalidArgument(mt::str("[accuracy] there is no option '", option,
                                        "'. Use --seed, --epochs, --images, --threads or --data."));
  }
  MARTELLO_CHECK(o.epochs > 0 && o.images >= kBatch, "[accuracy] ", o.epochs, " epochs of ", o.images,
                 " images: at least 1 epoch and ", kBatch, " images are needed.");
  return o;
}

struct DataSet {
  mt::HostTensor images, labels;
  int64_t size() const { return labels.num_elements(); }
};

DataSet load(const std::string& folder, const std::string& name) {
  const mt::HostTensor images = mt::data::read_idx(folder + "/" + name + "-images-idx3-ubyte.gz");
  return {images.reshaped({images.shape()[0], 28, 28, 1}),
          mt::data::read_idx(folder + "/" + name + "-labels-idx1-ubyte.gz")};
}

struct Batch {
  mt::Tensor image, label;
};

// The data stands in the graph; a run is fed with row numbers only.
Batch gather_batch(const DataSet& data, mt::Tensor rows) {
  const auto image = mt::cast(mt::gather(mt::constant(data.images), rows), mt::f32);
  return {(image / 255 - kPixelMean) / kPixelDeviation, mt::cast(mt::gather(mt::constant(data.labels), rows), mt::i32)};
}

mt::Tensor network(mt::Tensor image) {
  return mt::zoo::cifar_resnet(image, {.depth = 20, .shortcut = mt::ResidualShortcut::projection});
}

struct Training {
  mt::Operation step;
  mt::Tensor loss;
};

Training build_training(const DataSet& data, mt::Tensor rows, int64_t steps) {
  const mt::TowerContext tower("", true);
  const Batch batch = gather_batch(data, rows);
  const auto loss = mt::reduce_mean(mt::sparse_softmax_cross_entropy(network(batch.image), batch.label));
  const auto rate = mt::cosine_decay(kRate, mt::get_global_step_var(), {.decay_steps = static_cast<double>(steps)});
  const auto cost = loss + mt::regularize_cost("/W$", mt::l2_regularizer(kWeightDecay));
  auto ops = mt::Graph::current().collections().get(mt::kUpdateOps);
  ops.push_back(mt::Momentum(rate, {.momentum = kMomentum}).minimize(cost));
  return {mt::advance_global_step(ops), loss};
}

// How many of the rows are classified right, with the averages of batch norm.
mt::Tensor build_test(const DataSet& data, mt::Tensor rows) {
  const mt::VariableScope shared("", mt::Reuse::yes);
  const mt::TowerContext tower("test", false);
  const Batch batch = gather_batch(data, rows);
  return mt::reduce_sum(1 - mt::prediction_incorrect(network(batch.image), batch.label));
}

mt::HostTensor rows_of(const std::vector<int64_t>& order, int64_t begin, int64_t count) {
  return mt::HostTensor::from<int64_t>({order.data() + begin, static_cast<size_t>(count)}, {count});
}

std::vector<int64_t> in_order(int64_t count) {
  std::vector<int64_t> order(static_cast<size_t>(count));
  std::iota(order.begin(), order.end(), 0);
  return order;
}

// The mean loss of the last epoch.
double train(mt::PreparedRun run, const Options& o) {
  auto order = in_order(o.images);
  std::mt19937_64 random(static_cast<uint64_t>(o.seed));
  double loss = 0;
  const int64_t steps = o.images / kBatch;
  for (int64_t epoch = 0; epoch < o.epochs; ++epoch) {
    std::shuffle(order.begin(), order.end(), random);
    loss = 0;
    for (int64_t step = 0; step < steps; ++step) {
      run.feed(0, rows_of(order, step * kBatch, kBatch));
      run.run();
      loss += run.value(1).scalar<float>() / static_cast<double>(steps);
    }
    std::fprintf(stderr, "  seed %ld: epoch %ld/%ld, loss %.4f\n", static_cast<long>(o.seed),
                 static_cast<long>(epoch + 1), static_cast<long>(o.epochs), loss);
  }
  return loss;
}

double test(mt::PreparedRun run, int64_t count) {
  const auto order = in_order(count);
  double correct = 0;
  for (int64_t begin = 0; begin < count; begin += kTestBatch) {
    run.feed(0, rows_of(order, begin, std::min(kTestBatch, count - begin)));
    run.run();
    correct += run.value(0).scalar<float>();
  }
  return correct / static_cast<double>(count);
}

int run(const Options& o) {
  const auto start = std::chrono::steady_clock::now();
  const DataSet data = load(o.data, "train"), test_data = load(o.data, "t10k");
  MARTELLO_CHECK(o.images <= data.size(), "[accuracy] --images is ", o.images, ", but there are ", data.size(), ".");
  mt::GraphScope graph;
  graph.graph().set_seed(static_cast<uint64_t>(o.seed));
  mt::disable_layer_logging();
  const auto rows = mt::placeholder({mt::kUnknown}, mt::i64, "rows");
  const Training training = build_training(data, rows, o.epochs * (o.images / kBatch));
  const mt::Tensor correct = build_test(test_data, rows);
  mt::Session session(graph.graph(), {.threads = static_cast<int>(o.threads)});
  const double loss = train(session.prepare({training.step, training.loss}, {rows}), o);
  const double accuracy = test(session.prepare(correct, {rows}), test_data.size());
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  std::printf(
      "{\"peer\": \"martello\", \"seed\": %ld, \"epochs\": %ld, \"images\": %ld, \"accuracy\": %.4f, "
      "\"loss\": %.4f, \"seconds\": %.1f}\n",
      static_cast<long>(o.seed), static_cast<long>(o.epochs), static_cast<long>(o.images), accuracy, loss, seconds);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(parse(argc, argv));
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}
