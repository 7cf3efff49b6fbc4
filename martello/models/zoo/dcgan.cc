#include <martello/models/zoo/dcgan.h>

#include <martello/base/error.h>
#include <martello/models/arg_scope.h>
#include <martello/models/linear_wrap.h>
#include <martello/ops/activation.h>
#include <martello/ops/initializers.h>
#include <martello/ops/reshape.h>

#include <bit>

namespace martello::zoo {
namespace {

// Doublings between 4 x 4 pixels and the image.
int steps_of(const DcganOptions& o, const char* network) {
  const bool is_known = o.image_size >= 8 && std::has_single_bit(static_cast<unsigned>(o.image_size));
  MARTELLO_CHECK(is_known && o.image_size <= 4096, "[", network, "] image_size is ", o.image_size,
                 "; it is a power of 2, at least 8 and at most 4096.");
  MARTELLO_CHECK(o.filters > 0 && o.filters <= 1 << 16 && o.channels > 0, "[", network, "] filters ", o.filters,
                 " and channels ", o.channels, " are greater than 0, and filters at most ", 1 << 16, ".");
  return std::bit_width(static_cast<unsigned>(o.image_size)) - 3;
}

Tensor leaky(Tensor x) { return leaky_relu(x, 0.2); }

Conv2D halving() {
  return {.kernel = 4, .stride = 2, .padding = Padding(1, 1, 1, 1), .kernel_init = truncated_normal(0.02)};
}

}  // namespace

Tensor dcgan_generator(Tensor z, const DcganOptions& o, SourceLine line) {
  return with_line(line, [&] {
    const int steps = steps_of(o, "dcgan_generator");
    const VariableScope variables("gen");
    const NameScope names("gen");
    const ArgScope scope(halving(), FullyConnected{.kernel_init = truncated_normal(0.02)});
    const int first = o.filters << (steps - 1);
    Tensor x = fully_connected("fc0", z, {.units = 16 * first});
    x = bn_relu("act0", reshape(x, Shape(-1, 4, 4, first)));
    for (int i = 1; i < steps; ++i)
      x = conv2d_transpose(str("deconv", i), x, {.filters = first >> i, .activation = bn_relu});
    return Tensor(conv2d_transpose(str("deconv", steps), x, {.filters = o.channels, .activation = tanh}));
  });
}

Tensor dcgan_discriminator(Tensor image, const DcganOptions& o, SourceLine line) {
  return with_line(line, [&] {
    const int steps = steps_of(o, "dcgan_discriminator");
    const VariableScope variables("discrim", Reuse::automatic);
    const NameScope names("discrim");
    const ArgScope scope(halving(), FullyConnected{.kernel_init = truncated_normal(0.02)});
    Tensor x = conv2d("conv0", image, {.filters = o.filters, .activation = leaky});
    for (int i = 1; i < steps; ++i)
      x = leaky(batch_norm(str("bn", i), conv2d(str("conv", i), x, {.filters = o.filters << i})));
    return Tensor(fully_connected("fc", x, {.units = 1}));
  });
}

}  // namespace martello::zoo
