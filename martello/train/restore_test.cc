#include <martello/base/internal/test_dir.h>
#include <martello/base/internal/test_text.h>
#include <martello/callbacks/model_saver.h>
#include <martello/codec/safetensors.h>
#include <martello/graph/scopes.h>
#include <martello/train/internal/test_models.h>
#include <martello/train/restore.h>
#include <martello/train/single_cost_trainer.h>
#include <martello/train/varmanip.h>

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace martello {
namespace {

namespace fs = std::filesystem;
using testing::error_of;
using testing::kLineSignature;
using testing::line_cost;
using testing::LineInput;
using testing::Log;

class RestoreTest : public ::testing::Test {
 protected:
  RestoreTest() {
    const GraphScope scope(graph_);
    get_variable("a/w", {.shape = {2, 2}, .initializer = zeros()});
    get_variable("b", {.shape = {3}, .dtype = i64, .initializer = zeros(), .trainable = false});
  }
  // A session of the graph after this.
  Session init(Ref<SessionInit> how) {
    const GraphScope scope(graph_);
    how->setup_graph();
    Session session(graph_);
    how->run_init(session);
    return session;
  }
  std::string refusal(Ref<SessionInit> how) {
    return error_of<InvalidArgument>([&] { init(how); });
  }
  static bool says(const Log& log, const std::string& part) {
    for (const std::string& line : log.lines)
      if (line.find(part) != std::string::npos) return true;
    return false;
  }

  const testing::TestDir folder_;
  const std::string dir_ = folder_.path();
  const std::string path_ = dir_ + "/model.safetensors";
  Graph graph_ = Graph::current_or_new();
  HostTensor w_ = HostTensor::of<float>({1, 2, 3, 4}, {2, 2}), b_ = HostTensor::of<int64_t>({5, 6, 7});
};

TEST_F(RestoreTest, goes_on_with_what_a_saver_wrote) {
  const auto trained = [&](int64_t epochs, CallbackList callbacks, Ref<SessionInit> init) {
    SimpleTrainer trainer;
    trainer.setup_graph(kLineSignature, LineInput(), line_cost, [] { return Adam(0.01); });
    const TrainEnd end = trainer.train({.callbacks = std::move(callbacks),
                                        .session_init = std::move(init),
                                        .steps_per_epoch = 5,
                                        .max_epoch = epochs});
    EXPECT_EQ(end.reason, TrainEnd::finished) << end.message;
    return std::pair(trainer.sess().get("line/w"), trainer.loop().global_step);
  };
  const auto whole = trained(4, {}, {});
  trained(1, {ModelSaver({.dir = dir_})}, {});
  const auto resumed = trained(3, {}, SmartInit(dir_ + "/model-5.safetensors"));
  EXPECT_EQ(resumed.second, 20);
  EXPECT_TRUE(whole.first.same_bits(resumed.first)) << "the optimizer's state and the step went along";
}

TEST_F(RestoreTest, takes_values_by_name_and_says_what_only_one_side_has) {
  Log log;
  write_safetensors(path_, {{"b", b_}, {"extra", w_}, {"extra/Adam", w_}});
  Session session = init(SaverRestore(path_));
  EXPECT_TRUE(session.get("b").same_bits(b_));
  EXPECT_EQ(session.get("a/w").at(0), 0);
  EXPECT_TRUE(says(log, "no value for these variables: a/w."));
  EXPECT_TRUE(says(log, "values that no variable takes: extra.")) << "optimizer state is not worth a warning";
}

TEST_F(RestoreTest, a_prefix_ends_at_a_slash) {
  write_safetensors(path_, {{"w", w_}, {"b", b_}});
  Session session = init(SaverRestore(path_, {.prefix = "a"}));
  EXPECT_TRUE(session.get("a/w").same_bits(w_));
  EXPECT_TRUE(session.get("b").same_bits(b_));
  {
    const GraphScope scope(graph_);
    get_variable("w", {.shape = {2, 2}});
  }
  EXPECT_CONTAINS(refusal(SaverRestore(path_, {.prefix = "a"})), "variables 'a/w' and 'w' both stand for its 'w'");
}

TEST_F(RestoreTest, a_prefix_of_no_variable_is_refused) {
  write_safetensors(path_, {{"w", w_}, {"b", b_}});
  for (const char* prefix : {"a/", "c"})
    EXPECT_CONTAINS(refusal(SaverRestore(path_, {.prefix = prefix})),
                    str(".prefix is '", prefix, "', but no variable"));
}

TEST_F(RestoreTest, ignores_what_it_is_told_to) {
  write_safetensors(path_, {{"a/w", HostTensor(1.f)}, {"b", b_}});
  Session session = init(SaverRestore(path_, {.ignore = {"a/w"}}));
  EXPECT_TRUE(session.get("b").same_bits(b_));
  EXPECT_CONTAINS(refusal(SaverRestore(path_, {.ignore = {"a/v"}})), "ignore 'a/v', which is no variable");
}

TEST_F(RestoreTest, refuses_another_shape_or_dtype_before_the_session_exists) {
  write_safetensors(path_, {{"a/w", HostTensor({4}, f32)}});
  const GraphScope scope(graph_);
  const std::string text = error_of<InvalidArgument>([&] { SaverRestore(path_).setup_graph(); });
  for (const char* part : {"'a/w'", "f32[2, 2]", "f32[4]", "SaverRestoreRelaxed"}) EXPECT_CONTAINS(text, part);
  write_safetensors(path_, {{"b", b_.cast(i32)}});
  EXPECT_CONTAINS(refusal(SaverRestore(path_)), "variable 'b' is i64[3] but its value is i32[3]");
}

TEST_F(RestoreTest, refuses_a_file_of_another_model) {
  write_safetensors(path_, {{"x", w_}, {"y", w_}});
  EXPECT_CONTAINS(refusal(SaverRestore(path_)), "none of its 2 values (x, y) is the name of one of the 2 variables");
}

TEST_F(RestoreTest, relaxed_makes_values_fit_or_leaves_them_out) {
  Log log;
  write_safetensors(path_, {{"a/w", HostTensor::of<double>({1, 2, 3, 4})}, {"b", HostTensor({4}, i64)}});
  Session session = init(SaverRestoreRelaxed(path_));
  EXPECT_TRUE(session.get("a/w").same_bits(w_));
  EXPECT_EQ(session.get("b").at(0), 0);
  EXPECT_TRUE(says(log, "'a/w' is f32[2, 2] but its value is f64[4]: it is made to fit."));
  EXPECT_TRUE(says(log, "'b' is i64[3] but its value is i64[4]: it is left out."));
}

TEST_F(RestoreTest, a_value_beyond_its_variables_dtype_does_not_fit) {
  const HostTensor large = HostTensor::of<double>({1, 2, 1e300, INFINITY}, {2, 2});
  EXPECT_CONTAINS(refusal(DictRestore({{"a/w", large}})), "f32[2, 2] but its value is f64[2, 2]");
  EXPECT_EQ(init(DictRestore({{"a/w", HostTensor::of<double>({1, 2, 3, INFINITY})}})).get("a/w").at(3), INFINITY);
  {
    const GraphScope scope(graph_);
    get_variable("h", {.shape = {}, .dtype = f16, .initializer = zeros(), .trainable = false});
  }
  EXPECT_CONTAINS(refusal(DictRestore({{"h", HostTensor(1e30f).cast(bf16)}})), "f16[] but its value is bf16[]");
}

TEST_F(RestoreTest, a_map_of_values_serves_too) {
  EXPECT_TRUE(init(DictRestore({{"b", b_.cast(i32)}})).get("b").same_bits(b_));
  EXPECT_CONTAINS(refusal(DictRestore({{"b", w_}})), "ignore_mismatch");
  EXPECT_CONTAINS(refusal(DictRestore({{"b", b_.cast(f32)}})), "i64[3] but its value is f32[3]");
  Session session = init(SmartInit(ValueMap{{"b", w_}, {"a/w", w_}}, {.ignore_mismatch = true}));
  EXPECT_TRUE(session.get("a/w").same_bits(w_));
}

TEST_F(RestoreTest, of_a_chain_the_last_one_counts) {
  const HostTensor other = HostTensor::of<int64_t>({1, 1, 1});
  Session session = init(ChainInit({DictRestore({{"b", b_}, {"a/w", w_}}), DictRestore({{"b", other}})}));
  EXPECT_TRUE(session.get("b").same_bits(other));
  EXPECT_TRUE(session.get("a/w").same_bits(w_));
  EXPECT_CONTAINS(error_of<InvalidArgument>([] { ChainInit({Ref<SessionInit>()}); }), "part 0 is null");
}

TEST_F(RestoreTest, npz_files_and_lists_of_files_serve_too) {
  save_checkpoint_vars({{"b", b_.cast(i32)}, {"a/w", w_}}, dir_ + "/a.npz");
  const HostTensor other = HostTensor::of<int64_t>({1, 1, 1});
  save_checkpoint_vars({{"b", other}}, path_);
  Log log;
  EXPECT_TRUE(init(SmartInit(dir_ + "/a.npz")).get("b").same_bits(b_));
  EXPECT_TRUE(says(log, "/a.npz'] variable 'b' is i64[3] but its value is i32[3]"));
  Session session = init(SmartInit(std::vector<std::string>{dir_ + "/a.npz", path_, ""}));
  EXPECT_TRUE(session.get("b").same_bits(other));
  EXPECT_TRUE(session.get("a/w").same_bits(w_));
}

TEST_F(RestoreTest, an_empty_path_is_nothing_and_a_wrong_one_is_refused) {
  EXPECT_EQ(init(SmartInit("")).get("b").at(0), 0);
  const std::string text = error_of<NotFound>([&] { SmartInit(dir_ + "/none"); });
  for (const char* part : {"there is no such file", "restore_test.cc"}) EXPECT_CONTAINS(text, part);
  EXPECT_CONTAINS(error_of<InvalidArgument>([&] { SaverRestore("weights.npz"); }), "SmartInit() reads .npz files");
  EXPECT_THROW(SmartInit("weights.npz"), NotFound);
  EXPECT_CONTAINS(error_of<InvalidArgument>([&] { SaverRestore(""); }), "empty path");
  std::ofstream(path_) << "garbage that is long enough";
  EXPECT_CONTAINS(error_of<InvalidArgument>([&] { SmartInit{path_}; }), "are refused");
}

}  // namespace
}  // namespace martello
