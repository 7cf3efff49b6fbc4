#pragma once
#include <martello/base/error.h>

namespace martello {

// A function or source of a flow failed. The cause is nested (std::rethrow_if_nested). Errors of the library's own
// types keep their type and gain a line that names the stage.
class DataError : public Error {
 public:
  using Error::Error;
};

}  // namespace martello
