#include <martello/base/internal/test_dir.h>
#include <martello/base/internal/test_text.h>
#include <martello/codec/safetensors.h>
#include <martello/graph/scopes.h>
#include <martello/ops/initializers.h>
#include <martello/train/checkpoint_contents.h>
#include <martello/train/varmanip.h>

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

namespace martello {
namespace {

using testing::error_of;

class VarmanipTest : public ::testing::Test {
 protected:
  VarmanipTest() {
    const GraphScope scope(graph_);
    get_variable("w", {.shape = {2}, .initializer = ones()});
    get_variable("mean", {.shape = {2}, .initializer = zeros(), .trainable = false, .collections = {kModelVariables}});
    get_variable("w/Adam", {.shape = {2}, .initializer = zeros(), .trainable = false});
  }
  const testing::TestDir folder_;
  const std::string dir_ = folder_.path();
  Graph graph_;
};

TEST_F(VarmanipTest, values_travel_through_files_of_both_kinds) {
  const ValueMap values = {{"a/b", HostTensor::of<float>({1, 2})}, {"n", HostTensor(int64_t{7})}};
  for (const char* name : {"/v.npz", "/v.safetensors"}) {
    save_checkpoint_vars(values, dir_ + name);
    const ValueMap back = load_checkpoint_vars(dir_ + name);
    ASSERT_EQ(back.size(), 2u);
    for (const auto& [key, value] : values) EXPECT_TRUE(back.at(key).same_bits(value)) << key << name;
  }
  EXPECT_CONTAINS(error_of([&] { save_checkpoint_vars(values, dir_ + "/v.npy"); }), "holds one tensor without a name");
}

TEST_F(VarmanipTest, of_a_checkpoint_only_variables_are_loaded) {
  write_checkpoint(dir_ + "/model-3.safetensors",
                   {.variables = {{"w", HostTensor(1.f)}}, .local_variables = {{"l", HostTensor(1.f)}}});
  EXPECT_EQ(load_checkpoint_vars(dir_ + "/model-3.safetensors").size(), 1u);
  EXPECT_EQ(get_checkpoint_path(dir_), dir_ + "/model-3.safetensors");
  std::filesystem::resize_file(dir_ + "/model-3.safetensors", 50);
  EXPECT_THROW(get_checkpoint_path(dir_), NotFound);
}

TEST_F(VarmanipTest, names_that_readers_pass_over_are_refused) {
  EXPECT_CONTAINS(error_of<InvalidArgument>([&] {
                    save_checkpoint_vars({{"__martello__/x", HostTensor(1.f)}}, dir_ + "/a.safetensors");
                  }),
                  "reserved");
}

TEST_F(VarmanipTest, dumps_what_inference_needs) {
  Session session(graph_);
  dump_session_params(session, dir_ + "/p.npz");
  const ValueMap values = load_checkpoint_vars(dir_ + "/p.npz");
  EXPECT_EQ(values.size(), 2u);
  EXPECT_TRUE(values.contains("w") && values.contains("mean"));
}

TEST_F(VarmanipTest, updates_a_session_by_name) {
  Session session(graph_);
  update_session(session, {{"w", HostTensor::of<double>({3, 4})}});
  EXPECT_EQ(session.get("w").at(1), 4);
  update_session(session, {});
  EXPECT_CONTAINS(error_of([&] { update_session(session, {{"v", HostTensor(1.f)}}); }), "'v' is no GLOBAL variable");
  EXPECT_CONTAINS(error_of([&] { update_session(session, {{"w", HostTensor(1.f)}}); }), ".ignore_mismatch");
  update_session(session, {{"w", HostTensor(1.f)}}, {.ignore_mismatch = true});
  EXPECT_EQ(session.get("w").at(1), 4);
}

}  // namespace
}  // namespace martello
