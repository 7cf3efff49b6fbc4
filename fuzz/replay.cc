// replay FOLDER: gives every file of a corpus to a fuzz target, whole, cut and with changed bytes, and refuses one that
// takes more memory than its size and 64 MiB.
#include <malloc.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size);

namespace {

// Sanitizers keep books, and what was freed.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kCountsMemory = false;
#else
constexpr bool kCountsMemory = true;
#endif

void give(const std::string& bytes) {
  LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
}

long peak_bytes() {
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss * 1024;
}

void give_changed(const std::string& bytes) {
  constexpr int kChanges = 200;
  std::mt19937 random(1);
  for (int i = 0; i < kChanges && !bytes.empty(); ++i) {
    std::string changed = bytes;
    for (int k = 0; k <= i % 4; ++k) changed[random() % changed.size()] = static_cast<char>(random());
    if (i % 7 == 0) changed.resize(random() % changed.size());
    give(changed);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return std::fputs("usage: replay FOLDER\n", stderr), 2;
  constexpr long kMostExtra = 64L << 20;
  mallopt(M_MMAP_THRESHOLD, 1 << 20);  // what is freed is gone at once, so that the peak is that of one file
  int count = 0;
  size_t largest = 0;
  give("");
  const long before = peak_bytes();
  for (const auto& entry : std::filesystem::directory_iterator(argv[1])) {
    std::ifstream file(entry.path(), std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(file), {}};
    largest = std::max(largest, bytes.size());
    give(bytes);
    give_changed(bytes);
    ++count;
  }
  const long taken = peak_bytes() - before;
  std::printf("%d files, %ld KiB of memory\n", count, taken / 1024);
  const bool is_small = !kCountsMemory || taken <= kMostExtra + static_cast<long>(largest);
  return count > 0 && is_small ? 0 : 1;
}
