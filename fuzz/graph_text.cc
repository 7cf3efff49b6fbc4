// Any bytes as the text of a graph, which frozen models hold: read, or refused as InvalidArgument. What was read gives
// a text that reads as itself.
#include <martello/base/error.h>
#include <martello/graph/graph.h>

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  std::string text;
  try {
    text = martello::parse_graph({reinterpret_cast<const char*>(bytes), size}).text();
  } catch (const martello::InvalidArgument&) {
    return 0;
  }
  if (martello::parse_graph(text).text() != text) std::abort();
  return 0;
}
