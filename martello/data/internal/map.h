#pragma once
#include <martello/data/internal/stage.h>

namespace martello::data::internal {

struct MapParts {
  DataFlowRef source;
  MapFunction f;
  BadSamples bad_samples;
  std::string stage;
};
DataFlowRef make_map(std::string type, std::string options, MapParts parts);

// "decode", version="2", train.cc:12
std::string map_description(std::string_view name, std::string_view version, const BadSamples& bad,
                            const SourceLine& line);

}  // namespace martello::data::internal
