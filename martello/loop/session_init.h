#pragma once
#include <martello/runtime/session.h>

namespace martello {

// Gives variables values that are not those of their initializers: a checkpoint, a file, a map.
class SessionInit {
 public:
  SessionInit() = default;
  SessionInit(SessionInit&&) = default;
  virtual ~SessionInit() = default;
  // With the graph current and not final, on every process.
  virtual void setup_graph() {}
  // On the chief, before before_train.
  virtual void run_init(Session& session) = 0;
};

}  // namespace martello
