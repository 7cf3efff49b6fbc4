#include <martello/models/zoo/vgg.h>

#include <martello/base/error.h>
#include <martello/models/arg_scope.h>
#include <martello/models/linear_wrap.h>
#include <martello/ops/activation.h>

#include <array>

namespace martello::zoo {
namespace {

// Convolutions of each of the five stages.
std::array<int, 5> stages_of(int depth) {
  switch (depth) {
    case 11: return {1, 1, 2, 2, 2};
    case 13: return {2, 2, 2, 2, 2};
    case 16: return {2, 2, 3, 3, 3};
    case 19: return {2, 2, 4, 4, 4};
  }
  throw InvalidArgument(str("[vgg] there is no network of depth ", depth, ". Use 11, 13, 16 or 19."));
}

}  // namespace

Tensor vgg(Tensor image, const VggOptions& o, SourceLine line) {
  return with_line(line, [&] {
    const ArgScope scope(Conv2D{.kernel = 3, .activation = o.use_batch_norm ? Activation(bn_relu) : Activation(relu)},
                         FullyConnected{.units = o.dense_units, .activation = relu}, Dropout{.rate = o.dropout});
    const auto stages = stages_of(o.depth);
    LinearWrap net(image);
    for (int stage = 0; stage < 5; ++stage) {
      const int filters = std::min(64 << stage, 512);
      for (int i = 0; i < stages[static_cast<size_t>(stage)]; ++i)
        net.conv2d(str("conv", stage + 1, "_", i + 1), {.filters = filters});
      net.max_pooling(str("pool", stage + 1), {.size = 2});
    }
    return net.fully_connected("fc6")
        .dropout("drop6")
        .fully_connected("fc7")
        .dropout("drop7")
        .fully_connected("fc8", {.units = o.classes, .activation = Activation()})
        .tensor();
  });
}

}  // namespace martello::zoo
