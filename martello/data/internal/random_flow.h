#pragma once
#include <martello/data/dataflow.h>

#include <string>

namespace martello::data::internal {

// The data pass that random flows are made for. In others a filter may drop everything.
inline const Pass kRandomFlowPass{7, 1};

// A random pipeline of up to `stages` stages over random sources: the same for the same seed, whatever `threads` is.
// Every datapoint is one i64; the pass has 1 to 60 of them.
DataFlowRef random_flow(uint64_t seed, int stages, int threads);

}  // namespace martello::data::internal
