#include <martello/input/queue_input.h>

#include <martello/base/error.h>
#include <martello/input/internal/queue_feeder.h>

#include <algorithm>

namespace martello {
namespace {

DataFlowRef checked(DataFlowRef flow, std::string_view who, const QueueInputOptions& o) {
  MARTELLO_CHECK(flow, "[", who, "] the data flow is null.");
  MARTELLO_CHECK(o.capacity >= 1, "[", who, "] its capacity is ", o.capacity, " datapoints. Use 1 or more.");
  MARTELLO_CHECK(o.buffer_bytes >= 1, "[", who, "] its buffer has ", o.buffer_bytes, " bytes; it must be positive.");
  return flow;
}

int64_t checked_batch(int64_t batch_size) {
  MARTELLO_CHECK(batch_size >= 1, "[batch_queue_input] a batch of ", batch_size, " datapoints; it needs one or more.");
  return batch_size;
}

std::optional<int64_t> size_of(const DataFlowRef& flow) { return flow ? flow.size() : std::nullopt; }

DataFlowRef read_as(const DataFlowRef& flow, bool infinite) { return infinite ? flow.repeat() : flow; }

DataFlowRef in_batches(const DataFlowRef& flow, int64_t batch_size, const QueueInputOptions& o) {
  return read_as(checked(flow, "batch_queue_input", o), o.infinite).batch(checked_batch(batch_size));
}

std::optional<int64_t> batches_in(const DataFlowRef& flow, int64_t batch_size) {
  const auto size = size_of(flow);
  return size ? std::optional(*size / checked_batch(batch_size)) : std::nullopt;
}

// The capacity counts samples.
QueueInputOptions of_batches(QueueInputOptions o, int64_t batch_size) {
  o.capacity = std::max<int64_t>(1, o.capacity / checked_batch(batch_size));
  return o;
}

}  // namespace

QueueInput::QueueInput(DataFlowRef flow, QueueInputOptions options)
    : QueueInput("QueueInput", "queue_input", read_as(checked(flow, "queue_input", options), options.infinite),
                 size_of(flow), options) {}

QueueInput::QueueInput(std::string name, std::string who, DataFlowRef endless, std::optional<int64_t> size,
                       QueueInputOptions options)
    : feeder_(std::make_shared<internal::QueueFeeder>(
          internal::QueueFeederParts{std::move(name),
                                     std::move(who),
                                     std::move(endless),
                                     options.seed,
                                     {options.capacity, options.buffer_bytes}})),
      size_(size) {}

void QueueInput::setup(const std::vector<TensorSpec>& signature) { feeder_->setup(signature); }
TensorList QueueInput::get_input_tensors() { return feeder_->add_tower(); }
CallbackList QueueInput::get_callbacks() { return {feeder_}; }
void QueueInput::reset_state() { feeder_->reset(); }
bool QueueInput::stage(int64_t steps) { return feeder_->stage(steps), true; }

BatchQueueInput::BatchQueueInput(DataFlowRef flow, int64_t batch_size, QueueInputOptions options)
    : QueueInput("BatchQueueInput", "batch_queue_input", in_batches(flow, batch_size, options),
                 batches_in(flow, batch_size), of_batches(options, batch_size)),
      batch_size_(batch_size) {}

void BatchQueueInput::setup(const std::vector<TensorSpec>& signature) {
  for (const TensorSpec& s : signature) {
    MARTELLO_CHECK(s.shape.rank() > 0 && (s.shape[0] == kUnknown || s.shape[0] == batch_size_),
                   "[batch_queue_input] gives batches of ", batch_size_, " but input '", s.name, "' is ", s,
                   ". Its first dimension is that of the batch.");
    for (int i = 1; i < s.shape.rank(); ++i)
      MARTELLO_CHECK(s.shape[i] != kUnknown, "[batch_queue_input] needs to know dimension ", i, " of input '", s.name,
                     "', which is ", s, ". Only that of the batch may be unknown.");
  }
  QueueInput::setup(signature);
}

}  // namespace martello
