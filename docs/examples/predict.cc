// The examples of predict.md.
#include <martello/martello.h>

#include <cmath>
#include <cstdio>
#include <filesystem>
#include <thread>

namespace mt = martello;

namespace {

// Which of three numbers is the largest.
struct Largest : mt::ModelDesc {
  std::vector<mt::TensorSpec> inputs() const override {
    return {{{mt::kUnknown, 3}, mt::f32, "x"}, {{mt::kUnknown}, mt::i32, "label"}};
  }
  mt::Tensor build_graph(mt::TensorList in) const override {
    auto h = mt::relu(mt::batch_norm("bn", mt::fully_connected("fc0", in["x"], {.units = 16})));
    auto logits = mt::fully_connected("fc1", h, {.units = 3});
    mt::softmax(logits, "prob");
    return mt::reduce_mean(mt::sparse_softmax_cross_entropy(logits, in["label"]), "cost");
  }
  mt::OptimizerRef optimizer() const override { return mt::Adam(1e-2); }
};

mt::DataFlowRef numbers(int64_t count) {
  return mt::data::from_index(count, [](int64_t, mt::Rng& rng) {
    float v[3];
    for (float& x : v) x = static_cast<float>(rng.uniform());
    const int32_t label = v[0] > v[1] && v[0] > v[2] ? 0 : v[1] > v[2] ? 1 : 2;
    return mt::Datapoint(mt::HostTensor::of<float>({v[0], v[1], v[2]}), label);
  });
}

void train(const std::string& dir) {
  mt::TrainConfig config{.model = Largest(),
                         .dataflow = numbers(2000).batch(50),
                         .callbacks = {mt::ModelSaver({.dir = dir})},
                         .max_epoch = 4};
  mt::SimpleTrainer(config).train().rethrow();
}

mt::OfflinePredictor offline_example(const std::string& checkpoint) {
  return mt::OfflinePredictor(
      {.model = Largest(), .input_names = {"x"}, .output_names = {"prob"}, .session_init = mt::SmartInit(checkpoint)});
}

mt::HostTensor call_example(const mt::OfflinePredictor& predict) {
  const mt::HostTensor batch = mt::HostTensor::of<float>({0.1f, 0.9f, 0.2f, 0.8f, 0.3f, 0.1f}, {2, 3});
  const mt::HostTensors outputs = predict({batch});
  return outputs[0];  // f32[2, 3]
}

mt::FrozenPredictor frozen_example(const std::string& checkpoint, const std::string& path) {
  mt::ModelExporter(
      {.model = Largest(), .input_names = {"x"}, .output_names = {"prob"}, .session_init = mt::SmartInit(checkpoint)})
      .export_compact(path);
  return mt::FrozenPredictor(path);
}

// Any number of threads may serve clients this way; here are four.
double async_example(const mt::OnlinePredictor& model) {
  mt::MultiThreadAsyncPredictor predict({mt::OnlinePredictor(model)}, {.batch_size = 32});
  predict.start();
  std::vector<double> sums(4, 0);
  std::vector<std::thread> clients;
  for (double& sum : sums)
    clients.emplace_back([&] {
      for (int i = 0; i < 100; ++i) {
        const mt::HostTensor sample = mt::HostTensor::of<float>({0.1f, 0.9f, 0.01f * static_cast<float>(i)});
        sum += predict.put_task({sample}).get()[0].at(1);
      }
    });
  for (std::thread& c : clients) c.join();
  return sums[0] + sums[1] + sums[2] + sums[3];
}

int64_t dataset_example(const mt::OnlinePredictor& model) {
  int64_t right = 0;
  const mt::DataFlowRef data = numbers(500).select({0}).batch(100);
  mt::SimpleDatasetPredictor(model, data).for_each([&](const mt::Datapoint& d, mt::HostTensors outputs) {
    for (int64_t i = 0; i < d[0].shape()[0]; ++i)
      for (int64_t c = 0; c < 3; ++c) {
        bool is_largest = true;
        for (int64_t o = 0; o < 3; ++o) is_largest &= d[0].at(3 * i + o) <= d[0].at(3 * i + c);
        right += is_largest && outputs[0].at(3 * i + c) > 0.5;
      }
  });
  return right;
}

mt::HostTensors towers_example(const std::string& checkpoint, const mt::HostTensor& a, const mt::HostTensor& b) {
  const mt::DataParallelOfflinePredictor predict(
      {.model = Largest(), .input_names = {"x"}, .output_names = {"prob"}, .session_init = mt::SmartInit(checkpoint)},
      {0, 1});
  return predict({a, b});  // of device 0, of device 1
}

mt::HostTensors feedfree_example(const std::string& checkpoint) {
  mt::FeedfreePredictor predict(
      {.model = Largest(), .output_names = {"prob", "cost"}, .session_init = mt::SmartInit(checkpoint)},
      mt::QueueInput(numbers(500).batch(100)));
  return predict();  // of the first batch
}

}  // namespace

int main() {
  mt::logger::set_level(mt::logger::Level::error);
  const std::string dir = std::filesystem::temp_directory_path() / "martello_docs_predict";
  train(dir);
  const std::string checkpoint = dir + "/model-160.safetensors";
  const mt::OfflinePredictor predict = offline_example(checkpoint);
  const mt::HostTensor prob = call_example(predict);
  const mt::FrozenPredictor frozen = frozen_example(checkpoint, dir + "/largest.safetensors");
  const mt::HostTensor x = mt::HostTensor::of<float>({0.1f, 0.9f, 0.2f}, {1, 3});
  bool holds = prob.at(1) > 0.5 && prob.at(3) > 0.5 && std::abs(frozen({x})[0].at(1) - prob.at(1)) < 1e-5;
  holds = holds && async_example(predict) > 300 && dataset_example(predict) > 400;
  holds = holds && towers_example(checkpoint, x, x)[1].at(1) > 0.5 && feedfree_example(checkpoint)[1].at(0) < 0.5;
  std::filesystem::remove_all(dir);
  return holds ? 0 : 1;
}
