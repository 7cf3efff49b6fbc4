#include <martello/models/zoo/resnet.h>

#include <martello/base/error.h>
#include <martello/models/arg_scope.h>
#include <martello/models/linear_wrap.h>

#include <array>

namespace martello::zoo {
namespace {

struct Plan {
  std::array<int, 4> blocks;
  bool is_bottleneck;
};

Plan plan_of(int depth) {
  switch (depth) {
    case 18: return {{2, 2, 2, 2}, false};
    case 34: return {{3, 4, 6, 3}, false};
    case 50: return {{3, 4, 6, 3}, true};
    case 101: return {{3, 4, 23, 3}, true};
    case 152: return {{3, 8, 36, 3}, true};
  }
  throw InvalidArgument(str("[resnet] there is no network of depth ", depth, ". Use 18, 34, 50, 101 or 152."));
}

ResidualOrder order_of(ResidualOrder order, bool is_first) {
  return is_first && order == ResidualOrder::pre ? ResidualOrder::pre_first : order;
}

Tensor head(Tensor x, ResidualOrder order, int classes, DataFormat format) {
  LinearWrap net(x);
  if (order != ResidualOrder::post) net.bn_relu("bnlast");
  return net.global_avg_pooling("gap", {.data_format = format}).fully_connected("linear", {.units = classes}).tensor();
}

Padding border(int pixels) { return {pixels, pixels, pixels, pixels}; }

}  // namespace

Tensor resnet(Tensor image, const ResNetOptions& o, SourceLine line) {
  return with_line(line, [&] {
    const Plan plan = plan_of(o.depth);
    const ArgScope scope(Conv2D{.use_bias = false, .data_format = o.data_format}, Pooling{.data_format = o.data_format},
                         BatchNorm{.data_format = o.data_format});
    Tensor x =
        LinearWrap(image)
            .conv2d("conv0",
                    {.filters = o.filters, .kernel = 7, .stride = 2, .padding = border(3), .activation = bn_relu})
            .max_pooling("pool0", {.size = 3, .stride = 2, .padding = border(1)})
            .tensor();
    for (int group = 0; group < 4; ++group) {
      const VariableScope variables(str("group", group));
      const NameScope names(str("group", group));
      for (int i = 0; i < plan.blocks[static_cast<size_t>(group)]; ++i) {
        const Residual block{.filters = o.filters << group,
                             .stride = i == 0 && group > 0 ? 2 : 1,
                             .order = order_of(o.order, i == 0 && group == 0),
                             .squeeze_ratio = o.squeeze_ratio,
                             .data_format = o.data_format};
        x = plan.is_bottleneck ? residual_bottleneck(str("block", i), x, block)
                               : residual_basic(str("block", i), x, block);
      }
    }
    return head(x, o.order, o.classes, o.data_format);
  });
}

Tensor cifar_resnet(Tensor image, const CifarResNetOptions& o, SourceLine line) {
  return with_line(line, [&] {
    MARTELLO_CHECK(o.depth >= 8 && o.depth % 6 == 2, "[cifar_resnet] depth is ", o.depth,
                   "; it is 6 n + 2: 20, 32, 56, 110.");
    const ArgScope scope(Conv2D{.use_bias = false, .data_format = o.data_format},
                         BatchNorm{.data_format = o.data_format});
    Tensor x = conv2d("conv0", image, {.filters = 16, .kernel = 3, .activation = bn_relu});
    for (int stage = 0; stage < 3; ++stage)
      for (int i = 0; i < (o.depth - 2) / 6; ++i)
        x = residual_basic(str("res", stage, ".", i), x,
                           {.filters = 16 << stage,
                            .stride = i == 0 && stage > 0 ? 2 : 1,
                            .order = order_of(o.order, i == 0 && stage == 0),
                            .shortcut = o.shortcut,
                            .squeeze_ratio = o.squeeze_ratio,
                            .data_format = o.data_format});
    return head(x, o.order, o.classes, o.data_format);
  });
}

}  // namespace martello::zoo
