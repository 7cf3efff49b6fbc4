#include "train.h"

#include <charconv>

namespace mt = martello;

namespace bench {
namespace {

mt::HostTensor normal_like(mt::Shape shape) {
  mt::GraphScope g;
  return mt::Session(g.graph()).eval(mt::random_normal(shape));
}

mt::HostTensor labels(int64_t count, int64_t classes) {
  mt::HostTensor t({count}, mt::i32);
  for (int64_t i = 0; i < count; ++i) t.set(i, static_cast<double>(i * 7 % classes));
  return t;
}

mt::Tensor dense(const std::string& name, mt::Tensor x, int64_t units) {
  mt::VariableScope scope(name);
  auto w = mt::get_variable("W", {.shape = {x.dim(1), units}, .initializer = mt::he_normal()});
  auto b = mt::get_variable("b", {.shape = {units}, .initializer = mt::zeros()});
  return mt::matmul(x, w) + b;
}

void inputs(Work& w, mt::HostTensor x, mt::HostTensor label) {
  w.x = mt::placeholder(x.shape(), x.dtype(), "x");
  w.label = mt::placeholder(label.shape(), label.dtype(), "label");
  w.x_value = std::move(x);
  w.label_value = std::move(label);
}

// A batch has as many images as the first dimension says, if no other number was asked for.
void images(Work& w, const mt::Shape& shape, int64_t classes) {
  if (w.batch == 0) w.batch = shape[0];
  inputs(w, normal_like(shape.with(0, w.batch)), labels(w.batch, classes));
}

void tokens(Work& w, int64_t rows, int64_t length, int64_t words) {
  if (w.batch == 0) w.batch = rows;
  const int64_t count = w.batch * length;
  inputs(w, labels(count, words).reshaped({w.batch, length}), labels(count, words));
}

// Batch norm's averages move with every step, as they do in the peers.
void finish(Work& w, mt::Tensor logits, mt::Optimizer&& optimizer) {
  w.loss = mt::reduce_mean(mt::sparse_softmax_cross_entropy(logits, w.label), "loss");
  auto ops = mt::Graph::current().collections().get(mt::kUpdateOps);
  ops.push_back(optimizer.minimize(w.loss));
  w.train = mt::group(ops, "train");
}

mt::Momentum momentum() { return mt::Momentum(0.01, {.momentum = 0.9}); }

// 16-64-64-4, tanh, Adam.
void build_tiny(Work& w) {
  w.warm = 30;
  w.steps = 500;
  images(w, {32, 16}, 4);
  auto h = mt::tanh(dense("fc0", w.x, 64));
  h = mt::tanh(dense("fc1", h, 64));
  finish(w, dense("fc2", h, 4), mt::Adam(1e-3));
}

// 784-256-10, ReLU, momentum.
void build_mlp(Work& w) {
  w.warm = 30;
  w.steps = 300;
  images(w, {64, 784}, 10);
  finish(w, dense("fc1", mt::relu(dense("fc0", w.x, 256)), 10), momentum());
}

void build_mnist(Work& w) {
  w.warm = 5;
  w.steps = 10;
  images(w, {128, 28, 28, 1}, 10);
  finish(w, mt::zoo::convnet(w.x), mt::Adam(1e-3));
}

void build_cifar(Work& w) {
  w.warm = 3;
  w.steps = 5;
  images(w, {128, 32, 32, 3}, 10);
  finish(w, mt::zoo::cifar_resnet(w.x, {.depth = 20, .shortcut = mt::ResidualShortcut::projection}), momentum());
}

void build_resnet50(Work& w) {
  w.warm = 1;
  w.steps = 2;
  images(w, {16, 224, 224, 3}, 1000);
  finish(w, mt::zoo::resnet(w.x, {.depth = 50}), momentum());
}

void build_lstm(Work& w) {
  w.warm = 2;
  w.steps = 3;
  tokens(w, 20, 35, 10000);
  const auto y = mt::zoo::lstm_language_model(w.x, {.vocabulary = 10000, .units = 650, .layers = 2});
  finish(w, mt::reshape(y.logits, {-1, 10000}), momentum());
}

void build_gptmini(Work& w) {
  w.warm = 2;
  w.steps = 5;
  tokens(w, 8, 256, 512);
  const auto logits =
      mt::zoo::gpt(w.x, {.vocabulary = 512, .context = 256, .width = 256, .layers = 4, .heads = 4, .dropout = 0});
  finish(w, mt::reshape(logits, {-1, 512}), mt::Adam(1e-3));
}

struct Builder {
  const char* name;
  void (*build)(Work&);
};
constexpr Builder kBuilders[] = {{"tiny", build_tiny},      {"mlp", build_mlp},           {"mnist", build_mnist},
                                 {"cifar", build_cifar},    {"resnet50", build_resnet50}, {"lstm", build_lstm},
                                 {"gptmini", build_gptmini}};

int64_t batch_of(const std::string& name, const std::string& text) {
  int64_t batch = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), batch);
  MARTELLO_CHECK(error == std::errc() && end == text.data() + text.size() && batch > 0, "[bench] '", name,
                 "' asks for '", text, "' images or rows: a whole number above 0.");
  return batch;
}

}  // namespace

std::vector<std::string> work_names() {
  std::vector<std::string> names;
  for (const Builder& b : kBuilders) names.emplace_back(b.name);
  return names;
}

Work build_work(const std::string& name) {
  Work w;
  w.name = name;
  const size_t at = name.find('@');
  const std::string kind = name.substr(0, at);
  if (at != std::string::npos) w.batch = batch_of(name, name.substr(at + 1));
  for (const Builder& b : kBuilders) {
    if (kind != b.name) continue;
    const mt::TowerContext tower("", true);
    mt::disable_layer_logging();
    b.build(w);
    return w;
  }
  throw mt::NotFound(mt::str("[bench] there is no work '", kind, "'.", mt::did_you_mean(kind, work_names())));
}

}  // namespace bench
