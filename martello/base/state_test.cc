#include <gtest/gtest.h>
#include <martello/base/error.h>
#include <martello/base/state.h>

#include <malloc.h>

#include <cmath>
#include <limits>

namespace martello {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kIsSanitized = true;
#else
constexpr bool kIsSanitized = false;
#endif

struct Inner {
  int64_t position = 0;
  void state(State& s) { s("position", position); }
};

struct All {
  bool flag = false;
  int small = 0;
  int64_t large = 0;
  uint64_t bits = 0;
  float single = 0;
  double twice = 0;
  std::string text;
  std::vector<int64_t> integers;
  std::vector<double> doubles;
  std::vector<std::string> texts;
  Inner inner;
  void state(State& s) {
    s("flag", flag), s("small", small), s("large", large), s("bits", bits), s("single", single), s("twice", twice);
    s("text", text), s("integers", integers), s("doubles", doubles), s("texts", texts), s("inner", inner);
  }
};

All filled() {
  return {true,
          -7,
          std::numeric_limits<int64_t>::min(),
          ~0ull,
          0.1f,
          std::nan(""),
          std::string("a\0b", 3),
          {1, -2},
          {-0.0, 1e300},
          {"", "x", "yy"},
          {42}};
}

template <class F>
std::string error_of(F&& f) {
  try {
    f();
  } catch (const Error& e) {
    return e.what();
  }
  return "no error";
}

TEST(State, every_type_comes_back) {
  All from = filled(), to;
  restore_state(to, save_state(from));
  EXPECT_EQ(save_state(to), save_state(from));
  EXPECT_TRUE(to.flag);
  EXPECT_EQ(to.small, -7);
  EXPECT_EQ(to.bits, ~0ull);
  EXPECT_EQ(to.single, 0.1f);
  EXPECT_TRUE(std::isnan(to.twice));
  EXPECT_EQ(to.text, std::string("a\0b", 3));
  EXPECT_EQ(to.texts, (std::vector<std::string>{"", "x", "yy"}));
  EXPECT_EQ(to.inner.position, 42);
}

TEST(State, order_of_reading_is_free) {
  State save;
  int64_t a = 1, b = 2;
  save("a", a), save("b", b);
  State load = State::from_bytes(save.bytes());
  load("b", a), load("a", b);
  EXPECT_EQ(a, 2);
  EXPECT_EQ(b, 1);
  EXPECT_TRUE(load.has("a"));
  EXPECT_FALSE(load.has("c"));
  load.check_all_read();
}

TEST(State, refuses_a_missing_value_with_the_names_that_exist) {
  State save;
  int64_t x = 1;
  save("bset", x);
  State load = State::from_bytes(save.bytes());
  EXPECT_NE(error_of([&] { load("best", x); }).find("[state 'best'] was not saved; there is bset"), std::string::npos);
}

TEST(State, refuses_another_type) {
  State save;
  int64_t x = 1;
  double d = 0;
  save("x", x);
  State load = State::from_bytes(save.bytes());
  EXPECT_NE(error_of([&] { load("x", d); }).find("was saved as integer and is asked for as double"), std::string::npos);
}

TEST(State, refuses_leftovers_also_of_nested_parts) {
  struct More {
    Inner inner;
    int64_t extra = 0;
    void state(State& s) { s("inner", inner), s("extra", extra); }
  } more;
  struct Outer {
    Inner inner;
    void state(State& s) { s("inner", inner); }
  } outer;
  EXPECT_NE(
      error_of([&] { restore_state(outer, save_state(more)); }).find("[state 'extra'] was saved, but nothing asks"),
      std::string::npos);
}

TEST(State, refuses_one_key_twice) {
  State save;
  int64_t x = 1;
  save("x", x), save("x", x);
  EXPECT_NE(error_of([&] { save.bytes(); }).find("'x' is saved twice"), std::string::npos);
}

TEST(State, refuses_an_integer_that_does_not_fit) {
  State save;
  int64_t wide = int64_t{1} << 40;
  int narrow = 0;
  save("x", wide);
  State load = State::from_bytes(save.bytes());
  EXPECT_NE(error_of([&] { load("x", narrow); }).find("does not fit into an int"), std::string::npos);
}

TEST(State, refuses_another_version_and_foreign_bytes) {
  All all = filled();
  std::string bytes = save_state(all);
  EXPECT_NE(error_of([] { State::from_bytes("hello"); }).find("do not begin as a saved state"), std::string::npos);
  EXPECT_NE(error_of([] { State::from_bytes(""); }).find("do not begin"), std::string::npos);
  bytes[7] = 9;
  EXPECT_NE(error_of([&] { State::from_bytes(bytes); }).find("is of version 9"), std::string::npos);
}

int64_t bytes_in_use() {
  const struct mallinfo2 info = mallinfo2();
  return static_cast<int64_t>(info.uordblks + info.hblkhd);
}

// Bytes from elsewhere may have as many values as they have room for.
TEST(State, takes_no_more_memory_than_the_bytes_have) {
  if (kIsSanitized) GTEST_SKIP() << "sanitizers have an allocator of their own";
  constexpr size_t kValues = 1 << 20;
  State head;
  std::string bytes = head.bytes();
  const std::string value = "s" + std::string(2 * sizeof(uint64_t), '\0');
  for (size_t i = 0; i < kValues; ++i) bytes += value;
  const auto size = static_cast<int64_t>(bytes.size());
  const int64_t before = bytes_in_use();
  State load = State::from_bytes(std::move(bytes));
  EXPECT_LE(bytes_in_use() - before, size);
  int64_t x = 0;
  EXPECT_LT(error_of([&] { load("x", x); }).size(), size_t{300}) << "of a million keys";
}

TEST(State, a_list_of_texts_takes_what_its_texts_take) {
  State save;
  std::vector<std::string> texts((1 << 20) + 1), read;  // growing by doubling would take twice as much
  save("texts", texts);
  State load = State::from_bytes(save.bytes());
  load("texts", read);
  EXPECT_EQ(read, texts);
  EXPECT_EQ(read.capacity(), read.size());
}

TEST(State, survives_every_truncation_and_every_flipped_byte) {
  All all = filled();
  const std::string bytes = save_state(all);
  for (size_t size = 0; size < bytes.size(); ++size) {
    All to;
    EXPECT_THROW(restore_state(to, bytes.substr(0, size)), Error) << size;
  }
  for (size_t i = 0; i < bytes.size(); ++i) {
    std::string damaged = bytes;
    damaged[i] = static_cast<char>(damaged[i] ^ 0xff);
    All to;
    try {
      restore_state(to, damaged);  // a changed number is still a number
    } catch (const Error&) {
    }
  }
}

}  // namespace
}  // namespace martello
