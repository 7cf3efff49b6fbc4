#include "limits.h"

#include <martello/base/error.h>
#include <martello/base/threads.h>

#include <cstring>
#include <memory>

namespace mt = martello;

namespace bench {
namespace {

constexpr int64_t kChunk = 1 << 20;

}  // namespace

std::function<void()> make_copy(int64_t bytes, int threads) {
  const mt::Buffer from(bytes / 2), to(bytes / 2);
  std::memset(from.data(), 1, static_cast<size_t>(from.size()));
  std::memset(to.data(), 2, static_cast<size_t>(to.size()));
  return [from, to, threads] {
    mt::parallel_for(threads, (from.size() + kChunk - 1) / kChunk, [&](int64_t i) {
      const int64_t n = std::min(kChunk, from.size() - i * kChunk);
      std::memcpy(to.data() + i * kChunk, from.data() + i * kChunk, static_cast<size_t>(n));
    });
  };
}

// Sums 64-bit words in eight lanes: as fast as memory, and not optimized away.
std::function<void()> make_read(const mt::HostTensors& inputs, int threads) {
  auto sums = std::make_shared<std::vector<uint64_t>>(4096, 0);
  return [inputs, threads, sums] {
    for (const mt::HostTensor& t : inputs) {
      const int64_t words = t.num_bytes() / 8, per_chunk = kChunk / 8;
      const auto* data = reinterpret_cast<const uint64_t*>(t.raw());
      mt::parallel_for(threads, (words + per_chunk - 1) / per_chunk, [&](int64_t i) {
        uint64_t lanes[8] = {};
        const int64_t end = std::min(words, (i + 1) * per_chunk);
        for (int64_t w = i * per_chunk; w + 8 <= end; w += 8)
          for (int k = 0; k < 8; ++k) lanes[k] += data[w + k];
        for (uint64_t lane : lanes) (*sums)[static_cast<size_t>(i) % sums->size()] += lane;
      });
    }
  };
}

std::function<void()> make_limit(const Row& row, const mt::HostTensors& inputs, const mt::HostTensor& output,
                                 int threads) {
  const std::string& kind = row.limit;
  int64_t bytes = output.num_bytes();
  for (const mt::HostTensor& t : inputs) bytes += t.num_bytes();
  if (kind == "copy") return make_copy(bytes, threads);
  if (kind == "read") return make_read(inputs, threads);
  MARTELLO_CHECK(kind == "onednn" && inputs.size() == 2, "[bench] there is no limit '", kind, "'.");
  if (row.op.starts_with("conv2d")) return make_onednn_conv(row, inputs, output, threads);
  return make_onednn_matmul(row, inputs, threads);
}

}  // namespace bench
