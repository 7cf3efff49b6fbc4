#include <martello/base/internal/test_text.h>
#include <martello/data/sources.h>
#include <martello/train/internal/test_models.h>
#include <martello/train/train_config.h>
#include <martello/train/train_end.h>

#include <gtest/gtest.h>

#include <csignal>
#include <stdexcept>

namespace martello {
namespace {

using testing::error_of;
using testing::LineInput;
using testing::LineModel;

DataFlowRef some_flow() { return data::fake({{{}, f32, "x"}, {{}, f32, "y"}}, 12); }

TEST(TrainConfig, says_what_is_missing_or_too_much) {
  EXPECT_CONTAINS(error_of([] { TrainConfig{}.check(); }), "no model");
  EXPECT_CONTAINS(error_of([] { TrainConfig{.model = LineModel()}.check(); }), "no data");
  EXPECT_CONTAINS(
      error_of([] { TrainConfig{.model = LineModel(), .dataflow = some_flow(), .data = LineInput()}.check(); }),
      "both .dataflow and .data");
  EXPECT_NO_THROW((TrainConfig{.model = LineModel(), .dataflow = some_flow()}.check()));
}

class Endless : public InputSource {
 public:
  TensorList get_input_tensors() override { return {}; }
};

TEST(TrainConfig, steps_per_epoch_is_the_size_of_the_data) {
  EXPECT_EQ(TrainConfig{.dataflow = some_flow()}.get_steps_per_epoch(), 12);
  EXPECT_EQ(TrainConfig{.data = LineInput()}.get_steps_per_epoch(), 5);
  EXPECT_EQ((TrainConfig{.data = LineInput(), .steps_per_epoch = 0}.get_steps_per_epoch()), 0);
  EXPECT_CONTAINS(error_of([] { TrainConfig{.data = Endless()}.get_steps_per_epoch(); }), "Set .steps_per_epoch");
}

TEST(TrainEnd, converts_to_the_exit_code) {
  EXPECT_EQ(static_cast<int>(TrainEnd{}), 0);
  EXPECT_EQ(static_cast<int>(TrainEnd{.reason = TrainEnd::stopped, .message = "x"}), 0);
  EXPECT_EQ(static_cast<int>(TrainEnd{.reason = TrainEnd::failed}), 1);
  EXPECT_EQ(static_cast<int>(TrainEnd{.reason = TrainEnd::interrupted, .signal = SIGINT}), 130);
  EXPECT_EQ(static_cast<int>(TrainEnd{.reason = TrainEnd::interrupted, .signal = SIGTERM}), 143);
  EXPECT_EQ((TrainEnd{.reason = TrainEnd::stopped, .message = "x"}.str()), "stopped: x");
  EXPECT_EQ(TrainEnd{} | TrainEnd{.reason = TrainEnd::failed}, 1);
}

TEST(TrainEnd, carries_the_error) {
  EXPECT_NO_THROW(TrainEnd{}.rethrow());
  const TrainEnd end{.reason = TrainEnd::failed,
                     .message = "x",
                     .error = std::make_exception_ptr(std::runtime_error("the very error"))};
  EXPECT_THROW(end.rethrow(), std::runtime_error);
}

}  // namespace
}  // namespace martello
