#include "hostile.h"

#include <gtest/gtest.h>

#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <cmath>
#include <csignal>
#include <cstring>
#include <limits>

namespace martello::testing {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || defined(MARTELLO_SANITIZED)
constexpr double kMostSeconds = 20;
#else
constexpr double kMostSeconds = 1;
#endif

// What runs when a signal comes; written before, because nothing can be allocated then.
char current_case[8192];

extern "C" void tell_case(int signal_number) {
  [[maybe_unused]] const auto written = write(STDERR_FILENO, current_case, strnlen(current_case, sizeof current_case));
  std::signal(signal_number, SIG_DFL);
  std::raise(signal_number);
}

void catch_signals() {
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  for (int number : {SIGSEGV, SIGFPE, SIGABRT, SIGBUS, SIGILL}) std::signal(number, tell_case);
#endif
}

// A graph may well ask for memory that a large machine has: the smallest of no int32 as a size takes 8 GiB.
void limit_memory() {
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  constexpr rlim_t kMostBytes = rlim_t{4} << 30;
  const rlimit limit = {kMostBytes, kMostBytes};
  setrlimit(RLIMIT_AS, &limit);
#endif
}

// Fills every field of an attributes struct.
class Filler final : public FieldVisitor {
 public:
  Filler(Dice& dice, Malice malice) : dice_(dice), malice_(malice) {}

  void field(const char*, bool& v) override { v = dice_.one_in(2); }
  void field(const char*, int& v) override { v = static_cast<int>(any_integer()); }
  void field(const char*, int64_t& v) override { v = any_integer(); }
  void field(const char*, double& v) override { v = any_double(); }
  void field(const char*, std::string& v) override { v = dice_.one_in(2) ? "" : "text"; }
  void field(const char*, DType& v) override { v = any_dtype(dice_); }
  void field(const char*, Shape& v) override {
    std::vector<int64_t> dims = any_list<int64_t>();
    for (int64_t& d : dims) d = d < 0 && d != kUnknown && !dice_.one_in(8) ? 2 : d;
    v = Shape(dims);
  }
  void field(const char*, std::vector<int>& v) override { v = any_list<int>(); }
  void field(const char*, std::vector<int64_t>& v) override { v = any_list<int64_t>(); }
  void field(const char*, std::vector<double>& v) override { v.assign(1, any_double()); }
  void field(const char*, HostTensor& v) override { v = tame_value({2, 3}, any_dtype(dice_), dice_); }
  void field(const char*, Subgraph&) override {}
  void field(const char*, HostFunction& v) override {
    if (dice_.one_in(2)) v = HostFunction("same", [](const HostTensors& in) { return in; });
  }
  void field_enum(const char*, int& v, const std::vector<std::string>& names) override {
    v = static_cast<int>(dice_.below(static_cast<int64_t>(names.size())));
  }

 private:
  int64_t any_integer() {
    static constexpr int64_t kSmall[] = {0, 1, 2, 3, -1, -2};
    static constexpr int64_t kAll[] = {0,         1,         2,         -1,        -2,        7,           1 << 20,
                                       1LL << 31, 1LL << 32, 1LL << 62, INT64_MAX, INT64_MIN, -(1LL << 31)};
    return malice_ == Malice::some ? dice_.of(std::span(kSmall)) : dice_.of(std::span(kAll));
  }
  double any_double() {
    static constexpr double kSmall[] = {0, 0.5, 1, 2, -1};
    static constexpr double kAll[] = {0, 0.5, 1, -1, NAN, INFINITY, -INFINITY, 1e308, 5e-324, -0.0};
    return malice_ == Malice::some ? dice_.of(std::span(kSmall)) : dice_.of(std::span(kAll));
  }
  template <class T>
  std::vector<T> any_list() {
    std::vector<T> list;
    for (int64_t n = dice_.below(malice_ == Malice::some ? 4 : 8); n > 0; --n)
      list.push_back(static_cast<T>(any_integer()));
    return list;
  }

  Dice& dice_;
  Malice malice_;
};

// Of all threads of the test: what other jobs of the machine take is not counted.
double cpu_seconds() {
  timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

}  // namespace

Attrs make_attrs(const OpDef& def, Dice& dice, Malice malice) {
  if (!def.attrs) return Attrs();
  auto value = def.attrs->create();
  Filler filler(dice, malice);
  if (malice != Malice::none) def.attrs->visit(value.get(), filler);
  return Attrs(std::move(value), def.attrs);
}

DType any_dtype(Dice& dice) { return static_cast<DType>(dice.below(kDTypes)); }

HostTensor tame_value(const Shape& shape, DType dtype, Dice& dice) {
  HostTensor value(shape, dtype);
  const double step = is_floating(dtype) ? 0.25 : 1;
  const int64_t low = is_floating(dtype) ? -8 : 0;
  for (int64_t i = 0; i < value.num_elements(); ++i)
    value.set(i, static_cast<double>(low + dice.below(dtype == boolean ? 2 : is_floating(dtype) ? 17 : 4)) * step);
  return value;
}

HostTensor hostile_value(const Shape& shape, DType dtype, Dice& dice) {
  static constexpr double kReals[] = {NAN,  INFINITY, -INFINITY, 5e-324, 1e-40, 0.0, -0.0,
                                      1e38, -1e38,    1e308,     1,      -1,    0.5};
  static constexpr int64_t kIntegers[] = {0, 1, 2, -1, INT64_MAX, INT64_MIN, INT32_MAX, INT32_MIN, 255};
  HostTensor value(shape, dtype);
  for (int64_t i = 0; i < value.num_elements(); ++i) {
    if (dtype == i64) value.mutable_data<int64_t>()[static_cast<size_t>(i)] = dice.of(std::span(kIntegers));
    else if (dtype == i32)
      value.mutable_data<int32_t>()[static_cast<size_t>(i)] = static_cast<int32_t>(dice.of(std::span(kIntegers)));
    else if (dtype == u8)
      value.mutable_data<uint8_t>()[static_cast<size_t>(i)] = static_cast<uint8_t>(dice.of(std::span(kIntegers)));
    else value.set(i, dtype == boolean ? static_cast<double>(dice.below(2)) : dice.of(std::span(kReals)));
  }
  return value;
}

double largest_bytes(const Graph& graph) {
  double largest = 0;
  for (const Operation& op : graph.operations())
    for (const Tensor& t : outputs_of(op)) {
      double bytes = static_cast<double>(size_of(t.dtype()));
      for (int64_t d : t.shape().symbolic()) bytes *= d < 0 ? 3 : static_cast<double>(d);
      largest = std::max(largest, bytes);
    }
  return largest;
}

bool ends_well(const std::string& what, const std::function<void()>& f) {
  [[maybe_unused]] static const bool caught = (catch_signals(), limit_memory(), true);
  std::strncpy(current_case, (what + "\n").c_str(), sizeof current_case - 1);
  const double start = cpu_seconds();
  bool is_value = false;
  try {
    f();
    is_value = true;
  } catch (const InternalError& e) {
    ADD_FAILURE() << what << "\nblames ourselves: " << e.what();
  } catch (const Error& e) {
    EXPECT_EQ(*e.what(), '[') << what << "\nan error without a component: " << e.what();
  } catch (const std::exception& e) {
    ADD_FAILURE() << what << "\nan exception that is no Error: " << e.what();
  }
  EXPECT_LT(cpu_seconds() - start, kMostSeconds) << what;
  return is_value;
}

}  // namespace martello::testing
