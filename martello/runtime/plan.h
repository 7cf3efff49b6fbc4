#pragma once
#include <martello/runtime/program.h>

namespace martello {

// A program of a session, with the places of its variables in the store.
struct Plan {
  int64_t id = 0;
  std::shared_ptr<const Program> program;
  std::vector<int> variables;  // indices into the store, by position in program->variables
  std::vector<int> written;    // indices of the variables that its updates write
};

}  // namespace martello
