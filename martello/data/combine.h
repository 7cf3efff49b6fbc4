#pragma once
#include <martello/data/dataflow.h>

#include <vector>

namespace martello::data {

// One after the other.
DataFlowRef concat(const std::vector<DataFlowRef>& flows, SourceLine = SourceLine::current());
// Side by side: the components of all; ends with the shortest. Keys must differ.
DataFlowRef join(const std::vector<DataFlowRef>& flows, SourceLine = SourceLine::current());
// All datapoints of all flows in a random interleaving, each flow in its own order. Needs the sizes.
DataFlowRef mix(const std::vector<DataFlowRef>& flows, SourceLine = SourceLine::current());

struct Choice {
  DataFlowRef flow;
  double weight = 1;
};
// Each datapoint from a flow drawn by weight; ends when the flow that was drawn has ended.
DataFlowRef choose(const std::vector<Choice>& choices, SourceLine = SourceLine::current());

}  // namespace martello::data
