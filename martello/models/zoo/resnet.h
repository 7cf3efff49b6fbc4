#pragma once
#include <martello/models/blocks.h>

namespace martello::zoo {

struct ResNetOptions {
  int depth = 50;  // 18 and 34 of basic blocks; 50, 101 and 152 of bottlenecks
  int classes = 1000;
  ResidualOrder order = ResidualOrder::post;  // or pre
  int squeeze_ratio = 0;                      // of squeeze_excite in each block; 0: none
  int filters = 64;                           // of the first stage
  DataFormat data_format = DataFormat::nhwc;
};
// For images of about 224 x 224; gives logits [N, classes]. Layers are named conv0, group<i>/block<j>, linear. Needs a
// tower.
Tensor resnet(Tensor image, const ResNetOptions& options = {}, SourceLine line = SourceLine::current());

struct CifarResNetOptions {
  int depth = 20;  // 6 n + 2
  int classes = 10;
  ResidualOrder order = ResidualOrder::post;
  ResidualShortcut shortcut = ResidualShortcut::pool_and_pad;
  int squeeze_ratio = 0;
  DataFormat data_format = DataFormat::nhwc;
};
// For images of about 32 x 32: three stages of n basic blocks. Layers are named conv0,
// res<stage>.<i>, linear.
Tensor cifar_resnet(Tensor image, const CifarResNetOptions& options = {}, SourceLine line = SourceLine::current());

}  // namespace martello::zoo
