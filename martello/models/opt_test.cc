#include <martello/models/arg_scope.h>
#include <martello/models/blocks.h>
#include <martello/models/conv.h>
#include <martello/models/linear_wrap.h>
#include <martello/ops/activation.h>
#include <martello/ops/initializers.h>

#include <gtest/gtest.h>

#include <thread>

namespace martello {
namespace {

struct Own {
  Opt<int> a = unset(1);
  Opt<int> b = unset(2);
  static void fields(auto&& f, auto&... self) {
    f("a", self.a...);
    f("b", self.b...);
  }
};
struct Forgetful {
  Opt<int> a = unset(1);
  Opt<int> b = unset(2);
  static void fields(auto&& f, auto&... self) { f("a", self.a...); }
};

TEST(Opt, knows_whether_it_was_set) {
  const Conv2D defaults, call{.filters = 8, .stride = {2, 1}, .padding = {1, 2, 3, 4}};
  EXPECT_FALSE(defaults.filters.is_set());
  EXPECT_EQ(defaults.kernel->h, 3);
  EXPECT_TRUE(call.filters.is_set());
  EXPECT_EQ(*call.filters, 8);
  EXPECT_EQ(*call.stride, Size2(2, 1));
  EXPECT_EQ(*call.padding, Padding(1, 2, 3, 4));
  EXPECT_FALSE(call.kernel.is_set());
}

TEST(Opt, a_value_equal_to_the_default_counts_as_set) {
  EXPECT_TRUE((Conv2D{.use_bias = true}.use_bias.is_set()));
  EXPECT_TRUE((Conv2D{.groups = 1}.groups.is_set()));
}

TEST(ArgScope, inner_wins_over_outer_and_the_call_over_both) {
  const ArgScope outer(Conv2D{.filters = 1, .kernel = 5, .use_bias = false});
  EXPECT_EQ(*with_arg_scope(Conv2D{}).filters, 1);
  {
    const ArgScope inner(Conv2D{.filters = 2, .stride = 2});
    const Conv2D seen = with_arg_scope(Conv2D{});
    EXPECT_EQ(*seen.filters, 2);
    EXPECT_EQ(seen.kernel->h, 5);
    EXPECT_EQ(seen.stride->h, 2);
    EXPECT_FALSE(*seen.use_bias);
    const Conv2D call = with_arg_scope(Conv2D{.filters = 3, .use_bias = true});
    EXPECT_EQ(*call.filters, 3);
    EXPECT_TRUE(*call.use_bias);
    EXPECT_EQ(call.kernel->h, 5);
  }
  EXPECT_EQ(*with_arg_scope(Conv2D{}).filters, 1);
  EXPECT_EQ(with_arg_scope(Conv2D{}).stride->h, 1);
}

TEST(ArgScope, holds_options_of_several_layers_each_for_itself) {
  const ArgScope scope(Conv2D{.use_bias = false}, FullyConnected{.units = 7}, Own{.b = 5});
  EXPECT_FALSE(*with_arg_scope(Conv2D{}).use_bias);
  EXPECT_TRUE(*with_arg_scope(FullyConnected{}).use_bias);
  EXPECT_EQ(*with_arg_scope(FullyConnected{}).units, 7);
  EXPECT_EQ(*with_arg_scope(Own{}).a, 1);
  EXPECT_EQ(*with_arg_scope(Own{}).b, 5);
}

TEST(ArgScope, the_same_layer_twice_in_one_scope) {
  {
    const ArgScope scope(Own{.a = 3}, Own{.a = 4, .b = 6});
    EXPECT_EQ(*with_arg_scope(Own{}).a, 4);
    EXPECT_EQ(*with_arg_scope(Own{}).b, 6);
  }
  EXPECT_FALSE(with_arg_scope(Own{}).a.is_set());
}

TEST(ArgScope, ends_when_an_error_passes) {
  try {
    const ArgScope scope(Own{.a = 3});
    throw InvalidArgument("the model's own");
  } catch (const InvalidArgument&) {
  }
  EXPECT_EQ(*with_arg_scope(Own{}).a, 1);
}

TEST(ArgScope, is_of_one_thread) {
  const ArgScope scope(Own{.a = 3});
  std::thread([] { EXPECT_EQ(*with_arg_scope(Own{}).a, 1); }).join();
}

TEST(ArgScope, an_option_that_fields_forgets_is_refused) {
  const ArgScope scope(Forgetful{.a = 3});
  try {
    with_arg_scope(Forgetful{});
    FAIL() << "accepted";
  } catch (const InvalidArgument& e) {
    EXPECT_NE(std::string(e.what()).find("names 1 of its 2 options"), std::string::npos) << e.what();
  }
}

template <class L>
void expect_names_all() {
  EXPECT_NO_THROW(internal::check_fields(L{}));
  EXPECT_GT(internal::count_options<L>(), 0u);
}

TEST(Opt, our_layers_name_all_their_options) {
  expect_names_all<Conv2D>();
  expect_names_all<DepthConv>();
  expect_names_all<Pooling>();
  expect_names_all<GlobalAvgPooling>();
  expect_names_all<FixedUnPooling>();
  expect_names_all<FullyConnected>();
  expect_names_all<BatchNorm>();
  expect_names_all<BatchRenorm>();
  expect_names_all<LayerNorm>();
  expect_names_all<InstanceNorm>();
  expect_names_all<GroupNorm>();
  expect_names_all<Dropout>();
  expect_names_all<PReLU>();
  expect_names_all<Maxout>();
  expect_names_all<SqueezeExcite>();
  expect_names_all<Residual>();
}

}  // namespace
}  // namespace martello
