// A two-layer network on Fashion-MNIST with the bare graph, session and a loop written by hand.
//
//   ./dev run                       (or: fashion_mnist [FOLDER] [EPOCHS])
//
// Data: Debian's package dataset-fashion-mnist. Reaches about 88 % test accuracy after 5 epochs.
#include <martello/martello.h>

#include <unistd.h>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <numeric>
#include <string>
#include <vector>

namespace mt = martello;

namespace {

constexpr int64_t kBatch = 128, kPixels = 28 * 28, kHidden = 256, kClasses = 10;

struct Model {
  mt::Tensor image, label, loss, correct;
  mt::Operation train;
};

mt::Tensor dense(const char* name, mt::Tensor x, int64_t units) {
  mt::VariableScope scope(name);
  auto w = mt::get_variable("W", {.shape = {x.dim(1), units}, .initializer = mt::he_normal()});
  auto b = mt::get_variable("b", {.shape = {units}, .initializer = mt::zeros()});
  return mt::matmul(x, w) + b;
}

Model build() {
  Model m;
  m.image = mt::placeholder({mt::kUnknown, kPixels}, mt::u8, "image");
  m.label = mt::placeholder({mt::kUnknown}, mt::u8, "label");
  auto x = mt::cast(m.image, mt::f32) / 255;
  auto label = mt::cast(m.label, mt::i32);
  auto logits = dense("fc1", mt::relu(dense("fc0", x, kHidden)), kClasses);
  m.loss = mt::reduce_mean(mt::sparse_softmax_cross_entropy(logits, label), "loss");
  m.correct = mt::reduce_sum(1 - mt::prediction_incorrect(logits, label), "correct");
  m.train = mt::Adam(1e-3).minimize(m.loss);
  return m;
}

struct DataSet {
  mt::HostTensor images, labels;
  int64_t size() const { return labels.num_elements(); }
};

DataSet load(const std::string& folder, const std::string& name) {
  auto images = mt::data::read_idx(folder + "/" + name + "-images-idx3-ubyte.gz");
  const int64_t count = images.shape()[0];
  return {images.reshaped({count, kPixels}), mt::data::read_idx(folder + "/" + name + "-labels-idx1-ubyte.gz")};
}

// Rows order[begin .. begin + count) of the data set.
DataSet take(const DataSet& from, const std::vector<int64_t>& order, int64_t begin, int64_t count) {
  DataSet batch{mt::HostTensor({count, kPixels}, mt::u8), mt::HostTensor({count}, mt::u8)};
  auto images = batch.images.mutable_data<uint8_t>(), labels = batch.labels.mutable_data<uint8_t>();
  for (int64_t i = 0; i < count; ++i) {
    const int64_t row = order[static_cast<size_t>(begin + i)];
    std::memcpy(&images[static_cast<size_t>(i * kPixels)],
                &from.images.data<uint8_t>()[static_cast<size_t>(row * kPixels)], kPixels);
    labels[static_cast<size_t>(i)] = from.labels.data<uint8_t>()[static_cast<size_t>(row)];
  }
  return batch;
}

// Fisher-Yates with numbers that depend on (seed, epoch, position) alone.
std::vector<int64_t> shuffled(int64_t count, uint32_t epoch) {
  std::vector<int64_t> order(static_cast<size_t>(count));
  std::iota(order.begin(), order.end(), 0);
  for (uint32_t i = static_cast<uint32_t>(count) - 1; i > 0; --i) {
    const uint64_t bits = mt::Philox::block({i, epoch, 0, 0}, {2017, 1})[0];
    std::swap(order[i], order[static_cast<size_t>((bits * (uint64_t{i} + 1)) >> 32)]);
  }
  return order;
}

double test_accuracy(mt::Session& session, const Model& m, const DataSet& test) {
  auto run = session.prepare(m.correct, {m.image, m.label});
  std::vector<int64_t> order(static_cast<size_t>(test.size()));
  std::iota(order.begin(), order.end(), 0);
  double correct = 0;
  for (int64_t begin = 0; begin < test.size(); begin += 1000) {
    const DataSet batch = take(test, order, begin, std::min<int64_t>(1000, test.size() - begin));
    run.feed(0, batch.images);
    run.feed(1, batch.labels);
    run.run();
    correct += run.value(0).scalar<float>();
  }
  return correct / static_cast<double>(std::max<int64_t>(1, test.size()));
}

void show_progress(int epoch, int epochs, int64_t step, int64_t steps, double loss) {
  constexpr int kWidth = 30;
  const int filled = static_cast<int>(step * kWidth / steps);
  std::printf("\repoch %d/%d [%s%s] %ld/%ld  loss %.4f ", epoch, epochs, std::string(filled, '#').c_str(),
              std::string(kWidth - filled, '.').c_str(), static_cast<long>(step), static_cast<long>(steps), loss);
  std::fflush(stdout);
}

double train_epoch(mt::PreparedRun& run, const DataSet& train, int epoch, int epochs) {
  const bool is_terminal = isatty(STDOUT_FILENO);
  const auto order = shuffled(train.size(), static_cast<uint32_t>(epoch));
  const int64_t steps = train.size() / kBatch;
  double loss = 0;
  for (int64_t step = 0; step < steps; ++step) {
    const DataSet batch = take(train, order, step * kBatch, kBatch);
    run.feed(0, batch.images);
    run.feed(1, batch.labels);
    run.run();
    loss += run.value(1).scalar<float>();
    if (is_terminal && (step + 1) % 20 == 0) show_progress(epoch, epochs, step + 1, steps, loss / double(step + 1));
  }
  if (is_terminal) std::printf("\r%80s\r", "");
  return loss / static_cast<double>(std::max<int64_t>(1, steps));
}

int run(int argc, char** argv) {
  const std::string folder = argc > 1 ? argv[1] : "/usr/share/datasets/fashion-mnist";
  const int epochs = argc > 2 ? std::max(1, std::atoi(argv[2])) : 5;
  const DataSet train = load(folder, "train"), test = load(folder, "t10k");
  std::printf("Fashion-MNIST: %ld training and %ld test images, two-layer network of %ld hidden units\n",
              static_cast<long>(train.size()), static_cast<long>(test.size()), static_cast<long>(kHidden));
  mt::GraphScope graph;
  const Model model = build();
  mt::Session session;
  auto step = session.prepare({model.train, model.loss}, {model.image, model.label});
  double accuracy = 0;
  for (int epoch = 1; epoch <= epochs; ++epoch) {
    const auto start = std::chrono::steady_clock::now();
    const double loss = train_epoch(step, train, epoch, epochs);
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    accuracy = test_accuracy(session, model, test);
    std::printf("epoch %d/%d  loss %.4f  test accuracy %.2f %%  %.2f s (%.0f images/s)\n", epoch, epochs, loss,
                100 * accuracy, seconds, static_cast<double>(train.size()) / seconds);
    std::fflush(stdout);
  }
  std::printf("test accuracy %.2f %%\n", 100 * accuracy);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}
