#pragma once
#include <martello/graph/tensor.h>

namespace martello::zoo {

struct VggOptions {
  int depth = 16;  // 11, 13, 16 or 19
  int classes = 1000;
  bool use_batch_norm = false;
  double dropout = 0.5;
  int dense_units = 4096;  // of fc6 and fc7
};
// image [N, H, W, C]; gives logits [N, classes]. Layers are named conv1_1 ... conv5_3, fc6, fc7, fc8. Needs a tower.
Tensor vgg(Tensor image, const VggOptions& options = {}, SourceLine line = SourceLine::current());

}  // namespace martello::zoo
