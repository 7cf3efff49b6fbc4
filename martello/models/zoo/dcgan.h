#pragma once
#include <martello/graph/tensor.h>

namespace martello::zoo {

struct DcganOptions {
  int filters = 64;
  int channels = 3;     // of the image
  int image_size = 64;  // a power of 2, at least 8
};
// z [N, anything] to images [N, size, size, channels] in (-1, 1). Variables: gen/*. Needs a tower.
Tensor dcgan_generator(Tensor z, const DcganOptions& options = {}, SourceLine line = SourceLine::current());
// Logits [N, 1]: is it a real image? The second call in a graph shares the variables of the first: discrim/*.
Tensor dcgan_discriminator(Tensor image, const DcganOptions& options = {}, SourceLine line = SourceLine::current());

}  // namespace martello::zoo
