#pragma once
#include <gtest/gtest.h>
#include <martello/base/log.h>
#include <martello/data/combine.h>
#include <martello/data/error.h>
#include <martello/data/sources.h>
#include <martello/data/token.h>

#include <algorithm>
#include <string>
#include <vector>

// What tests of flows share.
namespace martello::data::internal {

using List = std::vector<Datapoint>;

inline List read(DataIterator& iterator, size_t most = 100000) {
  List list;
  while (list.size() < most) {
    std::optional<Datapoint> dp = iterator.next();
    if (!dp) break;
    list.push_back(std::move(*dp));
  }
  return list;
}
inline List all_of(const DataFlowRef& flow, Pass pass = {}) { return read(*flow->iterate(std::move(pass))); }

// The first component of each, as numbers.
inline std::vector<int64_t> numbers(const List& list) {
  std::vector<int64_t> result;
  for (const Datapoint& dp : list) result.push_back(static_cast<int64_t>(dp[0].at(0)));
  return result;
}
inline std::vector<int64_t> numbers(const DataFlowRef& flow, Pass pass = {}) {
  return numbers(all_of(flow, std::move(pass)));
}
inline std::vector<int64_t> sorted(std::vector<int64_t> v) {
  std::sort(v.begin(), v.end());
  return v;
}

inline ::testing::AssertionResult same(const List& a, const List& b) {
  if (a.size() != b.size()) return ::testing::AssertionFailure() << a.size() << " and " << b.size() << " datapoints";
  for (size_t i = 0; i < a.size(); ++i)
    if (!a[i].same_bits(b[i]))
      return ::testing::AssertionFailure() << "datapoint " << i << ": " << a[i].str() << " and " << b[i].str();
  return ::testing::AssertionSuccess();
}

inline List from(const List& list, size_t begin, size_t most = 100000) {
  const size_t first = std::min(begin, list.size()), last = std::min(list.size(), first + most);
  return List(list.begin() + static_cast<std::ptrdiff_t>(first), list.begin() + static_cast<std::ptrdiff_t>(last));
}

// 0 ... count - 1, as i64 scalars, by index.
inline DataFlowRef count_to(int64_t count) {
  return from_index(count, [](int64_t i, Rng&) { return Datapoint{i}; });
}
// The same as a coroutine, whose position is restored by replay, and which has neither a size nor random access.
inline DataFlowRef generate_to(int64_t count) {
  return from_generator([count](Pass) -> Generator<Datapoint> {
    for (int64_t i = 0; i < count; ++i) co_yield Datapoint{i};
  });
}

template <class F>
std::string error_of(F&& f) {
  try {
    f();
  } catch (const std::exception& e) {
    return e.what();
  }
  return "no error";
}
inline bool contains(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }
#define EXPECT_ERROR(expression, part)                                                                \
  do {                                                                                                \
    const std::string error_text = ::martello::data::internal::error_of([&] { (void)(expression); }); \
    EXPECT_TRUE(::martello::data::internal::contains(error_text, part)) << error_text;                \
  } while (false)

// No log lines while one lives.
class Silence {
 public:
  Silence() {
    if (depth_++ == 0) logger::set_sink([](logger::Level, std::string_view) {});
  }
  ~Silence() {
    if (--depth_ == 0) logger::set_sink({});
  }

 private:
  static inline int depth_ = 0;
};

// What every flow promises: the same again; the size it states; an end that stays; a position that can be saved and
// restored after every datapoint, also on an iterator that stands elsewhere; skip; tokens.
void check_flow(const DataFlowRef& flow, const Pass& pass = {7, 1});

}  // namespace martello::data::internal
