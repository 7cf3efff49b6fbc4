#pragma once
#include <cstdint>

// Counts calls of operator new in this test binary, on all threads, but for those that oneDNN makes within its own
// execute.
namespace martello::testing {

void start_counting_allocations();
int64_t stop_counting_allocations();

}  // namespace martello::testing
