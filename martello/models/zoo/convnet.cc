#include <martello/models/zoo/convnet.h>

#include <martello/base/error.h>
#include <martello/models/arg_scope.h>
#include <martello/models/linear_wrap.h>
#include <martello/ops/activation.h>

namespace martello::zoo {

Tensor convnet(Tensor image, const ConvNetOptions& o, SourceLine line) {
  return with_line(line, [&] {
    const ArgScope scope(Conv2D{.filters = o.filters, .kernel = 3, .activation = relu});
    return LinearWrap(image)
        .conv2d("conv0")
        .max_pooling("pool0", {.size = 2})
        .conv2d("conv1")
        .conv2d("conv2")
        .max_pooling("pool1", {.size = 2})
        .conv2d("conv3")
        .fully_connected("fc0", {.units = 512, .activation = relu})
        .dropout("drop", {.rate = o.dropout})
        .fully_connected("fc1", {.units = o.classes})
        .tensor();
  });
}

}  // namespace martello::zoo
