// Evolution strategies teach a small network to swing a pole up and to balance it: a training without gradients,
// batches, x or y, on the base Trainer. What it learns lies in a variable of the graph, so callbacks see it like any
// other.
//
//   ./dev run evolution [--resume auto|none|CHECKPOINT] [MOST_EPOCHS]
//
// Ctrl-C saves and ends; started again, it goes on where it was, bit for bit: noise and starts are drawn by the number
// of the generation. A run that has finished is left alone and a new one begins. Statistics, log and checkpoints go to
// train_log/evolution.
//
// Data: none, the pole is simulated. Swings it up from 100 unseen starts after 540 generations, in 3 seconds on two
// cores.
#include <martello/loop/monitors.h>
#include <martello/martello.h>
#include <martello/train/trainer.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <exception>
#include <numeric>
#include <vector>

#include "cart_pole.h"

namespace mt = martello;

namespace {

constexpr int kPairs = 32;  // of mirrored offspring in a generation
constexpr double kSpread = 0.5, kRate = 0.5;
constexpr int kTestStarts = 100;
constexpr uint64_t kNoiseSeed = 1, kStartSeed = 2, kTestSeed = 3;

using Parameters = std::vector<float>;

// -0.5 for the worst ... 0.5 for the best: how much better one is does not matter, only that it is.
std::vector<double> ranks(const std::vector<double>& fitness) {
  std::vector<size_t> order(fitness.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return fitness[a] < fitness[b]; });
  std::vector<double> rank(fitness.size());
  for (size_t place = 0; place < order.size(); ++place)
    rank[order[place]] = static_cast<double>(place) / static_cast<double>(order.size() - 1) - 0.5;
  return rank;
}

class Evolution : public mt::Trainer {
 public:
  Evolution() {
    const mt::GraphScope scope(graph());
    policy_ =
        mt::get_variable("policy", {.shape = {policy::kParameters}, .initializer = mt::zeros(), .trainable = false});
    next_ = mt::placeholder({policy::kParameters}, mt::f32, "next_policy");
    replace_ = mt::assign(policy_, next_);
  }

 protected:
  // One generation: mirrored offspring of the policy are tried out, and it moves towards the better ones.
  void run_step() override {
    const mt::HostTensor parent = sess().get(policy_);
    const auto noise = draw_noise();
    const std::vector<double> fitness = try_out(parent.data<float>(), noise);
    const std::vector<double> rank = ranks(fitness);
    mt::HostTensor child = parent;
    const auto values = child.mutable_data<float>();
    for (size_t i = 0; i < noise.size(); ++i) {
      const double step = kRate * (rank[2 * i] - rank[2 * i + 1]) / (kPairs * kSpread);
      for (size_t k = 0; k < values.size(); ++k) values[k] += static_cast<float>(step * noise[i][k]);
    }
    hooked_sess().run(replace_, {{next_, child}});
    monitors().put_scalar("reward", std::accumulate(fitness.begin(), fitness.end(), 0.0) / (2 * kPairs));
  }

 private:
  std::vector<Parameters> draw_noise() const {
    mt::Rng rng(kNoiseSeed, static_cast<uint64_t>(loop().global_step));
    std::vector<Parameters> noise(kPairs, Parameters(policy::kParameters));
    for (Parameters& n : noise)
      for (float& v : n) v = static_cast<float>(rng.normal());
    return noise;
  }

  // Rewards of parent + noise and parent - noise, side by side.
  std::vector<double> try_out(std::span<const float> parent, const std::vector<Parameters>& noise) const {
    const auto generation = static_cast<uint64_t>(loop().global_step);
    std::vector<double> fitness(2 * noise.size());
    mt::parallel_for(mt::default_threads(), static_cast<int64_t>(fitness.size()), [&](int64_t i) {
      const Parameters& n = noise[static_cast<size_t>(i / 2)];
      Parameters child(parent.begin(), parent.end());
      for (size_t k = 0; k < child.size(); ++k)
        child[k] += static_cast<float>((i % 2 == 0 ? kSpread : -kSpread) * n[k]);
      fitness[static_cast<size_t>(i)] = policy::attempt(child, mt::Rng(kStartSeed, generation)).reward;
    });
    return fitness;
  }

  mt::Variable policy_;
  mt::Tensor next_;
  mt::Operation replace_;
};

// Tries the policy out from starts that no generation has seen, after every epoch.
class SwingTest : public mt::Callback {
 public:
  void trigger() override {
    const mt::HostTensor parameters = sess().get("policy");
    int upright = 0;
    for (uint64_t start = 0; start < kTestStarts; ++start)
      upright += policy::attempt(parameters.data<float>(), mt::Rng(kTestSeed, start)).is_upright;
    monitors().put_scalar("test_upright", static_cast<double>(upright) / kTestStarts);
    if (upright == kTestStarts) throw mt::StopTraining("the pole stays up from all unseen starts");
  }
};

// The files of a run that goes on are kept; what becomes of others MARTELLO_OLD_RUN says, or whoever sits at the
// terminal.
void set_log_dir(const std::string& dir, const std::string& resume) {
  const bool goes_on = resume == "auto" ? mt::has_unfinished_run(dir) : resume != "none";
  mt::logger::set_logger_dir(dir, goes_on ? mt::logger::OldRun::keep : mt::logger::OldRun::ask);
}

int train(int64_t most_epochs, const std::string& resume) {
  set_log_dir("train_log/evolution", resume);
  const mt::TrainEnd end = Evolution().train_with_defaults({.callbacks = {mt::ModelSaver(), SwingTest()},
                                                            .steps_per_epoch = 20,
                                                            .max_epoch = most_epochs,
                                                            .resume = {.from = resume},
                                                            .handle_signals = true});
  if (end.reason == mt::TrainEnd::finished) std::fprintf(stderr, "the pole does not stay up yet\n");
  return end.reason == mt::TrainEnd::finished ? 1 : static_cast<int>(end);
}

int64_t number_of(const std::string& word) {
  int64_t number = -1;
  const char* end = word.data() + word.size();
  if (std::from_chars(word.data(), end, number).ptr != end || number < 0)
    throw mt::InvalidArgument("'" + word +
                              "' is no number. Usage: evolution [--resume auto|none|CHECKPOINT] [MOST_EPOCHS]");
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
    return train(words.empty() ? 60 : number_of(words[0]), resume);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}
