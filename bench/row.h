#pragma once
#include <martello/martello.h>

#include <string>
#include <vector>

namespace bench {

// One line of a .bench file:
//   matmul f32[1024,1024] f32[1024,1024] {transpose_b=true} @ onednn 1.05
//   multiply f32[16777216] 1.01 ; add 0.5 ; relu ; square @ copy 1.3
// An op with its inputs (shapes to be fed, or numbers) and attributes; after `;` an op whose first input is the result
// so far; after `@` what to compare with, and the ratio to stay below.
struct Row {
  std::string text;
  std::string op;          // the first
  std::string graph_text;  // placeholders x0, x1 ..., result y
  std::vector<martello::TensorSpec> inputs;
  std::string limit;
  double ratio = 0;
};

std::vector<Row> read_rows(const std::string& path);
// With every large dimension made small, for checks.
Row parse_row(const std::string& line, bool small);

}  // namespace bench
