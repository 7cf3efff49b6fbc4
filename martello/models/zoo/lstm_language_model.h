#pragma once
#include <martello/ops/lstm.h>

#include <vector>

namespace martello::zoo {

struct LstmLanguageModelOptions {
  int vocabulary = 10000;
  int units = 200;
  int layers = 2;
  double dropout = 0;       // of embeddings and of each layer's output
  double init_scale = 0.1;  // variables start uniform in [-init_scale, init_scale]
};
struct LanguageModelOutput {
  Tensor logits;                  // [rows, steps, vocabulary]
  std::vector<LstmState> states;  // after the last step, to go on from
};
// tokens [rows, steps], i32 or i64. Variables: embedding, lstm/layer<i>/*, softmax/*. `first` as the layer's. Needs a
// tower.
LanguageModelOutput lstm_language_model(Tensor tokens, const LstmLanguageModelOptions& options = {},
                                        const std::vector<LstmState>& first = {},
                                        SourceLine line = SourceLine::current());

}  // namespace martello::zoo
