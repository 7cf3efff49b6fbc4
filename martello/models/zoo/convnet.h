#pragma once
#include <martello/graph/tensor.h>

namespace martello::zoo {

struct ConvNetOptions {
  int filters = 32;
  int classes = 10;
  double dropout = 0.5;
};
// The first network of every tutorial: four convolutions, two poolings, two dense layers. image [N, H, W, C]; gives
// logits [N, classes]. Needs a tower.
Tensor convnet(Tensor image, const ConvNetOptions& options = {}, SourceLine line = SourceLine::current());

}  // namespace martello::zoo
