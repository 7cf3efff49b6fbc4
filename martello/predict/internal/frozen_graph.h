#pragma once
#include <martello/codec/safetensors.h>
#include <martello/graph/collections.h>
#include <martello/predict/frozen.h>

#include <string>
#include <vector>

namespace martello::internal {

inline constexpr const char* kFrozenGraphKey = "martello.graph";  // of the metadata

// Collections of a frozen graph.
inline constexpr CollectionKey<Tensor> kFrozenInputs{"inputs"}, kFrozenOutputs{"outputs"};
inline constexpr CollectionKey<std::string> kFrozenInputNames{"input_names"}, kFrozenOutputNames{"output_names"};

struct FrozenGraph {
  Graph graph;                      // its variables have no initializers
  std::vector<NamedTensor> values;  // of its variables
};

FrozenGraph freeze(Session& session, const TensorList& inputs, const TensorList& outputs, ExportOptions options);

// The graph of a file, with the variables that the file has values for. Refuses a file that is none, or whose values do
// not fit its graph.
Graph read_frozen_graph(const SafetensorsFile& file);

}  // namespace martello::internal
