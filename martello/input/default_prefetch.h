#pragma once
#include <martello/data/dataflow.h>
#include <martello/input/input_source.h>

#include <string>

namespace martello {

// What trainers make of the data that they are given, for towers on these devices ("" is left to the planner): a flow
// becomes a QueueInput; a QueueInput is staged when there are several devices or one that is not a CPU. Other sources
// stay as they are.
Ref<InputSource> apply_default_prefetch(DataFlowRef flow, const std::vector<std::string>& devices);
Ref<InputSource> apply_default_prefetch(Ref<InputSource> input, const std::vector<std::string>& devices);

}  // namespace martello
