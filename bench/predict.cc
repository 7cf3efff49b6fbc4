// What predictors cost.
//   martello_predict_bench                  the convnet, batch 1: in a bare session, a predictor and a frozen one; then
//                                           64 threads that predict one by one, and the same threads as clients of a
//                                           MultiThreadAsyncPredictor
//   martello_predict_bench mnist_predict    the predictor at batch 1 as a line for peers/run.py
//   martello_predict_bench trace [BATCH]    its nodes with their best times, and the kernels that were chosen
#include "memory.h"
#include "timing.h"

#include <martello/base/threads.h>
#include <martello/martello.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <thread>

namespace mt = martello;

namespace {

constexpr int kClients = 64, kEach = 100;  // what each of them predicts in a round
constexpr int kRounds = 6;
constexpr double kLeastSpeedup = 4;

mt::PredictConfig convnet_config() {
  return {.tower_func = [](mt::Tensor image) { return mt::softmax(mt::zoo::convnet(image), "prob"); },
          .input_signature = {{{mt::kUnknown, 28, 28, 1}, mt::f32, "image"}},
          .output_names = {"prob"},
          .session_init = mt::SmartInit("")};
}

mt::HostTensor image_of(mt::Shape shape) {
  mt::HostTensor image(std::move(shape), mt::f32);
  for (int64_t i = 0; i < image.num_elements(); ++i) image.set(i, static_cast<double>(i % 17) / 17);
  return image;
}

double call_seconds(const mt::PredictorBase& predict) {
  const std::vector<mt::HostTensor> inputs = {image_of({1, 28, 28, 1})};
  return bench::median_of_blocks([&] { predict(inputs); }, 50, 500);
}

double bare_seconds(const mt::OnlinePredictor& predict) {
  auto run = predict.session()->prepare(mt::Fetches(predict.outputs()), {predict.inputs()[0]});
  run.feed(0, image_of({1, 28, 28, 1}));
  return bench::median_of_blocks([&] { run.run(); }, 50, 500);
}

mt::FrozenPredictor frozen(const mt::OnlinePredictor& predict) {
  std::string pattern = (std::filesystem::temp_directory_path() / "predict_XXXXXX").string();
  const std::string dir = mkdtemp(pattern.data()), path = dir + "/convnet.safetensors";
  mt::ModelExporter(predict).export_compact(path);
  mt::FrozenPredictor loaded(path);
  std::filesystem::remove_all(dir);
  return loaded;
}

// Seconds per prediction when `clients` threads make `each` of them.
template <class F>
double clients_seconds(int clients, int each, F&& predict) {
  std::vector<std::thread> threads;
  const double start = bench::now_seconds();
  for (int t = 0; t < clients; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < each; ++i) predict();
    });
  for (std::thread& t : threads) t.join();
  return (bench::now_seconds() - start) / (clients * each);
}

int print_figure() {
  const double base_mb = bench::resident_mb();
  const mt::OfflinePredictor predict(convnet_config());
  std::printf(
      "{\"work\": \"mnist_predict\", \"variant\": \"martello\", \"ms\": %.4f, \"base_mb\": %.1f, \"peak_mb\": %.1f}\n",
      1e3 * call_seconds(predict), base_mb, bench::peak_mb());
  return 0;
}

int trace(int64_t batch) {
  const mt::OfflinePredictor predict(convnet_config());
  const mt::Feeds feeds = {{predict.inputs()[0], image_of({batch, 28, 28, 1})}};
  std::vector<mt::TraceEvent> best;
  for (int i = 0; i < 200; ++i) {
    mt::RunTrace run;
    predict.session()->run_traced(predict.outputs(), feeds, run);
    if (best.empty()) best = run.events;
    for (size_t e = 0; e < best.size(); ++e)
      best[e].duration_us = std::min(best[e].duration_us, run.events[e].duration_us);
  }
  for (const mt::TraceEvent& e : best) std::printf("%8.1f us  %-20s %s\n", e.duration_us, e.op.c_str(), e.node.c_str());
  for (const std::string& line : predict.session()->plan_report(predict.outputs(), feeds).implementations)
    std::printf("%s\n", line.c_str());
  return 0;
}

// A model that takes no time.
struct Nothing : mt::PredictorBase {
  mt::HostTensors predict(const std::vector<mt::HostTensor>& in) const override {
    return {mt::HostTensor({in[0].shape()[0], 10}, mt::f32)};
  }
};

mt::MultiThreadAsyncPredictor started(std::vector<mt::Ref<mt::PredictorBase>> predictors) {
  const int64_t batch = kClients / static_cast<int64_t>(predictors.size());
  mt::MultiThreadAsyncPredictor async(std::move(predictors), {.batch_size = batch});
  async.start();
  return async;
}

// Each thread of the predictor computes alone: no team of threads waits for a core that a client has.
int compare_clients(const mt::OnlinePredictor& model) {
  mt::PredictConfig config = convnet_config();
  config.session.threads = 1;
  config.session.kernel_choice = mt::KernelChoice::measured;
  const mt::OfflinePredictor alone(std::move(config));
  std::vector<mt::Ref<mt::PredictorBase>> predictors, nothing;
  for (int i = 0; i < mt::default_threads(); ++i) {
    predictors.emplace_back(mt::OnlinePredictor(alone));
    nothing.emplace_back(Nothing());
  }
  mt::MultiThreadAsyncPredictor async = started(std::move(predictors)), empty = started(std::move(nothing));
  const std::vector<mt::HostTensor> row = {image_of({1, 28, 28, 1})};
  const mt::HostTensors sample = {image_of({28, 28, 1})};
  double single = 1e30, direct = 1e30, batched = 1e30, request = 1e30;
  for (int round = 0; round < kRounds; ++round) {  // in turn, so that all see the same machine
    single = std::min(single, call_seconds(model));
    direct = std::min(direct, clients_seconds(kClients, kEach, [&] { model(row); }));
    batched = std::min(batched, clients_seconds(kClients, kEach, [&] { async.put_task(sample).get(); }));
    request = std::min(request, clients_seconds(kClients, kEach, [&] { empty.put_task(sample).get(); }));
  }
  std::printf(
      "one by one: %.1f us on one thread, %.1f us from %d threads; in batches of those %d threads: %.1f us "
      "(%.1f us for a model that takes no time)\n",
      1e6 * single, 1e6 * direct, kClients, kClients, 1e6 * batched, 1e6 * request);
  std::printf("  %.2f times as fast as one thread, %.2f times as fast as %d threads (at least %.0f)\n",
              single / batched, direct / batched, kClients, kLeastSpeedup);
  return direct / batched < kLeastSpeedup;
}

}  // namespace

int main(int argc, char** argv) {
  mt::logger::set_level(mt::logger::Level::error);
  if (argc > 1 && std::string_view(argv[1]) == "mnist_predict") return print_figure();
  if (argc > 1 && std::string_view(argv[1]) == "trace") {
    const int64_t batch = argc > 2 ? std::atoll(argv[2]) : 1;
    if (batch > 0) return trace(batch);
    std::fprintf(stderr, "[bench] '%s' is no batch size: a whole number above 0.\n", argv[2]);
    return 2;
  }
  const mt::OfflinePredictor predict(convnet_config());
  const mt::FrozenPredictor from_file = frozen(predict);
  const double bare = bare_seconds(predict), offline = call_seconds(predict), loaded = call_seconds(from_file);
  std::printf("convnet, batch 1: session %.1f us, predictor %.1f us (%+.1f us), frozen %.1f us\n", 1e6 * bare,
              1e6 * offline, 1e6 * (offline - bare), 1e6 * loaded);
  return compare_clients(predict);
}
