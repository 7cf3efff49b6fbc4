// Any bytes as a saved state: each value of it is read, or refused as InvalidArgument.
#include <martello/base/error.h>
#include <martello/base/state.h>

#include <cstdint>
#include <string>
#include <vector>

namespace {

using martello::State;

// A value of every type under its tag, all but the last asked for whatever became of those before.
struct Part {
  int depth = 0;
  bool b = false;
  int small = 0;
  int64_t i = 0;
  uint64_t u = 0;
  float f = 0;
  double d = 0;
  std::string s = {};
  std::vector<int64_t> is = {};
  std::vector<double> ds = {};
  std::vector<std::string> ss = {};

  template <class T>
  static void ask(State& from, const char* key, T& value) {
    try {
      from(key, value);
    } catch (const martello::InvalidArgument&) {
    }
  }
  void state(State& from) {
    constexpr int kDeepest = 8;
    ask(from, "b", b), ask(from, "i", small), ask(from, "i", i), ask(from, "u", u), ask(from, "f", f);
    ask(from, "d", d), ask(from, "s", s), ask(from, "I", is), ask(from, "D", ds), ask(from, "S", ss);
    Part nested{.depth = depth + 1};
    if (depth < kDeepest && from.has("o")) from("o", nested);
  }
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  Part part;
  try {
    martello::restore_state(part, {reinterpret_cast<const char*>(bytes), size});
  } catch (const martello::InvalidArgument&) {
  }
  return 0;
}
