#pragma once
#include <martello/base/error.h>
#include <martello/base/owned.h>

#include <cstdint>
#include <functional>

namespace martello {

// Thrown out of a wait that somebody ended.
class Interrupted : public Error {
 public:
  using Error::Error;
};

// Ends every wait in a flow's threads from outside: who iterates puts one into the Pass and raises it. Thread-safe.
class Interrupt {
 public:
  Interrupt();
  ~Interrupt();

  void raise();
  bool is_raised() const;
  // Calls `wake` when it is raised, at once if it was. remove() returns when no call is running. `wake` must not call
  // add() or remove().
  int64_t add(std::function<void()> wake);
  void remove(int64_t id);

 private:
  struct Wakers;
  Owned<Wakers> wakers_;
};

}  // namespace martello
