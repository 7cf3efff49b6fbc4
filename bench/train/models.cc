#include "train.h"

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

void finish(Work& w, mt::Tensor logits) {
  w.loss = mt::reduce_mean(mt::sparse_softmax_cross_entropy(logits, w.label), "loss");
}

void inputs(Work& w, int64_t features, int64_t classes) {
  w.x = mt::placeholder({w.batch, features}, mt::f32, "x");
  w.label = mt::placeholder({w.batch}, mt::i32, "label");
  w.x_value = normal_like({w.batch, features});
  w.label_value = labels(w.batch, classes);
}

// 16-64-64-4, tanh, Adam.
void build_tiny(Work& w) {
  w.batch = 32;
  w.steps = 500;
  inputs(w, 16, 4);
  auto h = mt::tanh(dense("fc0", w.x, 64));
  h = mt::tanh(dense("fc1", h, 64));
  finish(w, dense("fc2", h, 4));
  w.train = mt::Adam(1e-3).minimize(w.loss);
}

// 784-256-10, ReLU, momentum.
void build_mlp(Work& w) {
  w.batch = 64;
  inputs(w, 784, 10);
  finish(w, dense("fc1", mt::relu(dense("fc0", w.x, 256)), 10));
  w.train = mt::Momentum(0.01, {.momentum = 0.9}).minimize(w.loss);
}

mt::Tensor weight(const std::string& name, mt::Shape shape) {
  return mt::get_variable(name, {.shape = shape, .initializer = mt::uniform_init(-0.05, 0.05)});
}

// Embedding 10000 x 650, two LSTM layers of 650, 35 steps, output 10000, momentum.
void build_lstm(Work& w) {
  constexpr int64_t kSteps = 35, kUnits = 650, kWords = 10000;
  w.batch = 20;
  w.warm = 2;
  w.steps = 5;
  w.x = mt::placeholder({w.batch, kSteps}, mt::i32, "x");
  w.label = mt::placeholder({kSteps * w.batch}, mt::i32, "label");
  w.x_value = labels(kSteps * w.batch, kWords).reshaped({w.batch, kSteps});
  w.label_value = labels(kSteps * w.batch, kWords);
  std::vector<mt::LstmWeights> layers;
  for (const char* name : {"lstm0", "lstm1"}) {
    mt::VariableScope scope(name);
    layers.push_back(
        {weight("Wx", {kUnits, 4 * kUnits}), weight("Wh", {kUnits, 4 * kUnits}), weight("b", {4 * kUnits})});
  }
  const auto x = mt::embedding_lookup(weight("embedding", {kWords, kUnits}), w.x);
  const auto y = mt::lstm_stack(x, layers, {}, {.forget_bias = 0}).y;
  finish(w, dense("fc", mt::reshape(y, {-1, kUnits}), kWords));
  w.train = mt::Momentum(0.01, {.momentum = 0.9}).minimize(w.loss);
}

}  // namespace

std::vector<std::string> work_names() { return {"tiny", "mlp", "lstm"}; }

Work build_work(const std::string& name) {
  Work w;
  w.name = name;
  if (name == "tiny") build_tiny(w);
  else if (name == "mlp") build_mlp(w);
  else if (name == "lstm") build_lstm(w);
  else throw mt::NotFound(mt::str("[bench] there is no work '", name, "'.", mt::did_you_mean(name, work_names())));
  return w;
}

}  // namespace bench
