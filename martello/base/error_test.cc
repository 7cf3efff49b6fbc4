#include <gtest/gtest.h>
#include <martello/base/error.h>
#include <martello/base/internal/test_text.h>

namespace martello {
namespace {

using testing::error_of;

TEST(Error, check_throws_invalid_argument_with_the_message) {
  EXPECT_THROW(MARTELLO_CHECK(false, "x"), InvalidArgument);
  EXPECT_EQ(error_of([] { MARTELLO_CHECK(1 > 2, "[a 'b'] ", 1, " is not over ", 2, "."); }),
            "[a 'b'] 1 is not over 2.");
}

TEST(Error, check_that_holds_does_not_build_its_message) {
  int built = 0;
  MARTELLO_CHECK(built == 0, ++built);
  EXPECT_EQ(built, 0);
}

TEST(Error, assert_throws_internal_error_with_place_condition_and_a_request) {
  EXPECT_THROW(MARTELLO_ASSERT(false, "x"), InternalError);
  const std::string text = error_of([] { MARTELLO_ASSERT(1 > 2, "[plan] 3 buffers"); });
  EXPECT_EQ(text.find("[plan] 3 buffers"), 0u) << text;
  for (const char* part : {"1 > 2", "error_test.cc:", "please report"}) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
  }
}

TEST(Error, context_lines_are_appended_and_the_type_stays) {
  auto fail = [] {
    try {
      throw NotFound("[session] no 'x'.");
    } catch (Error& error) {
      error.add_context("while running 'y' on cpu:0");
      error.add_context("in epoch 3");
      throw;
    }
  };
  EXPECT_THROW(fail(), NotFound);
  EXPECT_EQ(error_of(fail), "[session] no 'x'.\n  while running 'y' on cpu:0\n  in epoch 3");
}

TEST(Error, every_kind_is_an_error_and_a_standard_exception) {
  EXPECT_THROW(throw InvalidArgument("a"), Error);
  EXPECT_THROW(throw FailedPrecondition("a"), Error);
  EXPECT_THROW(throw InternalError("a"), std::exception);
}

}  // namespace
}  // namespace martello
