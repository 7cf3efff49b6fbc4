#pragma once
#include <martello/runtime/internal/derived_form.h>
#include <martello/runtime/internal/program.h>

#include <atomic>

namespace martello {

// A program of a session, with the places of its variables in the store.
struct Plan {
  int64_t id = 0;
  std::shared_ptr<const Program> program;
  std::vector<int> variables;                         // indices into the store, by position in program->variables
  std::vector<int> written;                           // indices of the variables that its updates write
  std::vector<std::unique_ptr<DerivedForm>> derived;  // by position in program->derived
  mutable std::atomic<bool> has_initialized = false;  // its variables have values
};

}  // namespace martello
