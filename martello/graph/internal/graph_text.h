#pragma once
#include <martello/graph/attrs.h>
#include <martello/graph/subgraph.h>

#include <string>
#include <string_view>

// The text form of graphs. A graph is a list of statements:
//
//   martello graph 1
//   seed 7                      (left out when it is the default or that of the graph around a body)
//   collection losses = tensors(%loss)
//   %x = placeholder() {shape=[?, 10]} : f32[?0, 10]
//   %fc/matmul = matmul(%x, %fc/W) {transpose_b=true} : f32[?0, 5] after(%init) on("cpu:1") at("model.cc":12)
//
// Line ends count as blanks, `#` starts a comment. Names and words with other characters than letters, digits and _ (in
// names also / . -) stand in quotes: %"a b". Output 1 of %split is %split:1. Attributes at their defaults are left out.
// A dimension is a size, `?`, or `?3`: unknown, the same wherever ?3 stands. A body is an attribute
// `subgraph(%inputs) -> (%outputs) { statements }`; the statement `initializer` marks a variable's. A gradient override
// is written by name, `gradient("guided_relu")`, since text cannot hold its function: a parsed node keeps the name and
// refuses to be differentiated. Whether a graph is finalized is not text.
namespace martello::internal {

inline constexpr uint64_t kDefaultSeed = 0x4d617274656c6c6fULL;  // Graph().seed(); a test holds them equal

struct TextOptions {
  bool lines = true;                   // at(...); without them two bodies built at different lines read the same
  uint64_t outer_seed = kDefaultSeed;  // of the graph around a body: a body with the same seed does not repeat it
};

std::string graph_text(const Graph& graph, TextOptions options);
std::string subgraph_text(const Subgraph& body, TextOptions options, int indent = 0);

// "{axis=1, value=f32[2](1, 2)}" or "" when every attribute has its default.
std::string attrs_text(const Attrs& attrs, TextOptions options, int indent);
// "f32[2](1, 2)", or "f32[100](hex ...)" with the bytes in memory order.
std::string tensor_text(const HostTensor& tensor);
// "[2, ?, ?3]"
std::string shape_text(const Shape& shape);
// A word or name, in quotes when it needs them; a reference with its mark: "%fc/W", "%split:1".
std::string word_text(std::string_view word);
std::string reference_text(std::string_view node, int output = 0);
bool is_word_char(char c);
bool is_name_char(char c);

// Bodies within bodies. Text that goes deeper is refused: its reader calls itself.
inline constexpr int kMaxBodyDepth = 32;
// Shapes of higher rank are not shapes of anything.
inline constexpr int kMaxTextRank = 64;

}  // namespace martello::internal
