#include "ops.h"
#include "timing.h"

#include <martello/martello.h>
#include <martello/train/checkpoint_contents.h>

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <functional>
#include <string>

namespace mt = martello;

namespace bench {
namespace {

constexpr double kMostRatio = 1.3;
constexpr int64_t kTensors = 16, kMegabytes = 64;  // each
constexpr int kRounds = 4;

mt::Checkpoint gigabyte() {
  mt::Checkpoint c{.info = {.run = "bench"}};
  for (int64_t i = 0; i < kTensors; ++i) {
    mt::HostTensor t({kMegabytes << 18}, mt::f32);
    uint32_t bits = static_cast<uint32_t>(i);
    for (float& v : t.mutable_data<float>()) v = static_cast<float>(bits = bits * 1664525 + 1013904223);
    c.variables.push_back({mt::str("w", i), t});
  }
  return c;
}

double seconds_of(const std::function<void()>& call) {
  sync();  // nobody else's pages
  const double start = now_seconds();
  call();
  return now_seconds() - start;
}

void write_plainly(const std::string& path, const mt::Checkpoint& c) {
  FILE* file = std::fopen(path.c_str(), "wb");
  for (const mt::NamedTensor& t : c.variables)
    std::fwrite(t.value.raw(), 1, static_cast<size_t>(t.value.num_bytes()), file);
  std::fflush(file);
  fsync(fileno(file));
  std::fclose(file);
}

}  // namespace

// Written, synced, renamed and read back, beside nothing but written and synced.
int time_saving(const std::string& dir) {
  const std::string plain = dir + "/save_bench.tmp", saved = dir + "/save_bench.safetensors";
  const mt::Checkpoint c = gigabyte();
  double best_plain = 1e9, best_saved = 1e9, best_loaded = 1e9;
  for (int i = 0; i < kRounds; ++i) {
    best_plain = std::min(best_plain, seconds_of([&] { write_plainly(plain, c); }));
    unlink(plain.c_str());
    best_saved = std::min(best_saved, seconds_of([&] {
                            mt::write_checkpoint(saved, c);
                            mt::verify_checkpoint(saved);
                          }));
    best_loaded = std::min(best_loaded, seconds_of([&] { mt::read_checkpoint(saved); }));
    unlink(saved.c_str());
  }
  const double ratio = best_saved / best_plain;
  std::printf("1 GiB written and synced: %.2f s; as a checkpoint, read back: %.2f s, %.2f times%s; loaded: %.2f s\n",
              best_plain, best_saved, ratio, ratio > kMostRatio ? " !!" : "", best_loaded);
  return ratio > kMostRatio ? 1 : 0;
}

}  // namespace bench
