// What saving, stopping and going on cost a run of the convnet.
//   martello_resume_bench [TIMES]    steps beside saves; from the start of a process that resumes to its first step; so
//                                    many runs (200) that are asked to end at any time, and how long they take to
#include "stopwatch.h"

#include <martello/martello.h>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>

namespace mt = martello;
namespace fs = std::filesystem;

namespace {

constexpr int64_t kBatch = 128;
constexpr double kMostSlowdown = 0.05, kMostStart = 1, kMostEnd = 2;  // seconds, but the first

struct ConvNet : mt::ModelDesc {
  std::vector<mt::TensorSpec> inputs() const override {
    return {{{kBatch, 28, 28, 1}, mt::f32, "image"}, {{kBatch}, mt::i32, "label"}};
  }
  mt::Tensor build_graph(mt::TensorList in) const override {
    return mt::reduce_mean(mt::sparse_softmax_cross_entropy(mt::zoo::convnet(in["image"]), in["label"]), "cost");
  }
  mt::OptimizerRef optimizer() const override { return mt::Adam(1e-3); }
};

mt::DataFlowRef images() {
  return mt::data::from_arrays({mt::HostTensor({2000, 28, 28, 1}, mt::f32), mt::HostTensor({2000}, mt::i32)})
      .shuffle()
      .batch(kBatch);
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

// Every second epoch saves three times, not at its end: that save would be written during an epoch without any.
bool compare_steps(const std::string& dir) {
  constexpr int64_t kSteps = 160, kEpochs = 16;
  mt::logger::set_logger_dir(dir, mt::logger::OldRun::erase);
  std::vector<double> seconds;
  const auto is_saving = [](const mt::TrainContext& c) {
    return c.loop().epoch_num % 2 == 0 && c.loop().local_step < kSteps - 1;
  };
  const mt::TrainConfig config{
      .model = ConvNet(),
      .dataflow = images(),
      .callbacks = {mt::EnableCallbackIf(mt::PeriodicTrigger(mt::ModelSaver(), {.steps = kSteps / 4}), is_saving),
                    bench::Stopwatch(seconds)},
      .steps_per_epoch = kSteps,
      .max_epoch = kEpochs};
  mt::SimpleTrainer(config).train().rethrow();
  std::vector<double> by_kind[2];
  for (size_t i = 2; i < seconds.size(); ++i) by_kind[i % 2].push_back(seconds[i]);
  const double without = median(by_kind[0]), with = median(by_kind[1]);
  const double slowdown = with / without - 1;
  std::printf("a step: %.2f ms; with a save every %.1f s beside it: %.2f ms, %+.1f %%%s\n",
              1e3 * without / static_cast<double>(kSteps), with / 4, 1e3 * with / static_cast<double>(kSteps),
              100 * slowdown, slowdown > kMostSlowdown ? " !!" : "");
  return slowdown <= kMostSlowdown;
}

// Writes when its first step was done.
class FirstStep : public mt::Callback {
 public:
  explicit FirstStep(std::string path) : path_(std::move(path)) {}
  void trigger_step() override {
    if (is_written_) return;
    std::ofstream(path_) << std::to_string(bench::now_seconds());
    is_written_ = true;
  }

 private:
  std::string path_;
  bool is_written_ = false;
};

// The run that is interrupted: it saves twice a second or so, validates, and goes on whenever it is started.
int train(const std::string& dir) {
  mt::logger::set_logger_dir(dir, mt::logger::OldRun::keep);
  const mt::AutoResumeTrainConfig config(
      {.model = ConvNet(),
       .dataflow = images(),
       .callbacks = {mt::PeriodicTrigger(mt::ModelSaver({.max_to_keep = 3}), {.steps = 25}),
                     mt::InferenceRunner(images(), {mt::ScalarStats({"cost"})}), FirstStep(dir + "/first_step")},
       .steps_per_epoch = 60,
       .max_epoch = 1000000});
  return mt::launch_train_with_config(config, mt::SimpleTrainer());
}

pid_t start(const std::string& program, const std::string& dir) {
  const pid_t process = fork();
  if (process != 0) return process;
  const int log = open((dir + "/output.txt").c_str(), O_WRONLY | O_CREAT | O_APPEND, 0666);
  dup2(log, STDOUT_FILENO);
  dup2(log, STDERR_FILENO);
  execl(program.c_str(), program.c_str(), "train", dir.c_str(), nullptr);
  _exit(99);
}

// Seconds to its end, or nothing when it ends otherwise than it should.
std::optional<double> end(pid_t process) {
  const double sent = bench::now_seconds();
  kill(process, SIGTERM);
  int status = 0;
  waitpid(process, &status, 0);
  const double seconds = bench::now_seconds() - sent;
  // A process that has not reached its own code yet has nothing to save.
  if ((WIFEXITED(status) && WEXITSTATUS(status) == 143) || (WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM))
    return seconds;
  std::printf("ended with status %d !!\n", status);
  return std::nullopt;
}

bool compare_starts(const std::string& program, const std::string& dir) {
  std::vector<double> seconds;
  for (int i = 0; i < 8; ++i) {
    fs::remove(dir + "/first_step");
    const double started = bench::now_seconds();
    const pid_t process = start(program, dir);
    double done = 0;
    while (done == 0) {
      if (waitpid(process, nullptr, WNOHANG) != 0) return std::printf("a run ended before its first step !!\n"), false;
      usleep(20000);
      std::ifstream(dir + "/first_step") >> done;
    }
    if (i > 0) seconds.push_back(done - started);  // the first run has nothing to go on with
    if (!end(process)) return false;
  }
  const double worst = *std::max_element(seconds.begin(), seconds.end());
  std::printf("from the start of a process to its first step, resumed: %.2f s, at most %.2f s%s\n", median(seconds),
              worst, worst > kMostStart ? " !!" : "");
  return worst <= kMostStart;
}

bool interrupt(const std::string& program, const std::string& dir, int times) {
  std::mt19937 random(3);
  std::vector<double> seconds;
  for (int i = 0; i < times; ++i) {
    const pid_t process = start(program, dir);
    usleep(static_cast<useconds_t>(random() % 2500000));
    const auto took = end(process);
    if (!took) return false;
    seconds.push_back(*took);
  }
  std::sort(seconds.begin(), seconds.end());
  const double p99 = seconds[seconds.size() * 99 / 100];
  std::printf("SIGTERM to the end of the process, %d times: median %.2f s, p99 %.2f s%s, at most %.2f s\n", times,
              median(seconds), p99, p99 > kMostEnd ? " !!" : "", seconds.back());
  return p99 <= kMostEnd;
}

int measure(int times) {
  const std::string program = fs::read_symlink("/proc/self/exe").string();
  std::string pattern = fs::current_path().string() + "/resume_bench_XXXXXX";
  const std::string dir = mkdtemp(pattern.data());
  mt::logger::set_level(mt::logger::Level::error);
  fs::create_directory(dir + "/run");
  const bool is_fast = compare_starts(program, dir + "/run");
  const bool is_prompt = interrupt(program, dir + "/run", times);
  const bool is_free = compare_steps(dir + "/steps");
  fs::remove_all(dir);
  return is_fast && is_prompt && is_free ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    if (argc > 2 && std::string_view(argv[1]) == "train") return train(argv[2]);
    return measure(argc > 1 ? std::atoi(argv[1]) : 200);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}
