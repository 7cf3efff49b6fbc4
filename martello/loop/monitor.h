#pragma once
#include <martello/codec/event.h>
#include <martello/loop/callback.h>
#include <martello/tensor/host_tensor.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace martello {

// Whether the same run, done again, gives the same value.
enum class ScalarClass : uint8_t {
  run,        // losses, errors, learning rates: repeatable
  volatile_,  // throughput, queue size, memory: of this machine at this hour
};
std::string_view to_string(ScalarClass c);

// Where scalars, images and texts of a run go: a file, a service, the screen. Handed to the trainer as a monitor, never
// as a callback; it has all hooks of a callback. What Monitors takes arrives here in the order in which it was put.
//   struct Phone : Monitor {
//     void process_scalar(std::string_view name, double value) override { ... }
//   };
class Monitor : public Callback {
 public:
  Monitor() { set_chief_only(false); }

  virtual void process_scalar(std::string_view /*name*/, double /*value*/) {}
  // A scalar of class volatile_; one that makes no difference need not override it.
  virtual void process_volatile(std::string_view name, double value) { process_scalar(name, value); }
  virtual void process_image(std::string_view /*name*/, const HostTensor& /*u8, NHWC*/) {}
  virtual void process_histogram(std::string_view /*name*/, const HostTensor& /*values*/) {}
  virtual void process_text(std::string_view /*name*/, std::string_view /*text*/) {}
  virtual void process_event(const Event& /*event*/) {}
  // Whole rows are on disk when it returns; a row that is not complete yet belongs to state(). Before a checkpoint
  // commits, and whenever the user asks.
  virtual void flush() {}

  std::string name_scope() const override { return ""; }
  std::string description() const override { return ""; }
};

}  // namespace martello
