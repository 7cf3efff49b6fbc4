#pragma once
#include <exception>

namespace martello {

// Ends the steps of a device because another device's step failed; the other's error is the one that is reported.
struct Aborted : std::exception {
  const char* what() const noexcept override { return "another device failed"; }
};

}  // namespace martello
