#pragma once
#include <cstdint>
#include <string>

namespace martello {

// What an event holds, by the number of its field in TensorBoard's schema.
enum class EventKind : uint8_t { file_version = 3, graph = 4, summary = 5, run_metadata = 8 };

// One record of an event file. `bytes` is the message of that kind, encoded as TensorBoard's schema says.
struct Event {
  EventKind kind = EventKind::summary;
  std::string bytes = {};
  int64_t step = 0;
  double wall_time = 0;  // seconds since 1970
};

}  // namespace martello
