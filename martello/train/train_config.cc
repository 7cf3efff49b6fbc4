#include <martello/train/train_config.h>

#include <martello/base/error.h>
#include <martello/input/queue_input.h>

namespace martello {

void TrainConfig::check() const {
  MARTELLO_CHECK(model, "[train_config] has no model. Set .model.");
  MARTELLO_CHECK(!dataflow || !data, "[train_config] has both .dataflow and .data. Set one of them.");
  MARTELLO_CHECK(dataflow || data, "[train_config] has no data. Set .dataflow, or .data to an InputSource.");
}

Ref<InputSource> TrainConfig::get_input() const {
  if (data) return data;
  return QueueInput(dataflow);
}

int64_t TrainConfig::get_steps_per_epoch() const {
  if (steps_per_epoch) return *steps_per_epoch;
  const auto size = dataflow ? dataflow.size() : data ? data->size() : std::nullopt;
  MARTELLO_CHECK(size, "[train_config] has no .steps_per_epoch, and the size of the ", dataflow ? "data flow" : "input",
                 " is not known. Set .steps_per_epoch.");
  return *size;
}

TrainOptions TrainConfig::options() const {
  return {.callbacks = callbacks,
          .extra_callbacks = extra_callbacks,
          .monitors = monitors,
          .session_init = session_init,
          .steps_per_epoch = get_steps_per_epoch(),
          .starting_epoch = starting_epoch,
          .max_epoch = max_epoch,
          .session = session,
          .resume = resume,
          .grace_seconds = grace_seconds};
}

AutoResumeTrainConfig::AutoResumeTrainConfig() : AutoResumeTrainConfig(TrainConfig()) {}
AutoResumeTrainConfig::AutoResumeTrainConfig(TrainConfig config) : TrainConfig(std::move(config)) {
  resume.from = "auto";
}

}  // namespace martello
