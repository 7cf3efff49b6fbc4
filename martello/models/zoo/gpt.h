#pragma once
#include <martello/graph/tensor.h>

namespace martello::zoo {

// The defaults are GPT-2 small.
struct GptOptions {
  int vocabulary = 50257;
  int context = 1024;  // most tokens of a sequence
  int width = 768;
  int layers = 12;
  int heads = 12;
  double dropout = 0.1;
};
// tokens [rows, steps], i32 or i64, steps known; gives logits [rows, steps, vocabulary] by the transposed embedding.
// Layers normalize first, GELU is the tanh form. Variables: wte, wpe, h<i>/ln_1/*, h<i>/attn/*, h<i>/proj/*,
// h<i>/ln_2/*, h<i>/fc/*, h<i>/fc_proj/*, ln_f/*. Needs a tower.
Tensor gpt(Tensor tokens, const GptOptions& options = {}, SourceLine line = SourceLine::current());

}  // namespace martello::zoo
