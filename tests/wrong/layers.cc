#include "wrong.h"

namespace martello::testing {
namespace {

Tensor image() { return input({2, 8, 8, 3}, f32, "image"); }

WRONG_PROGRAM(a_convolution_without_filters, "[conv2d 'conv1'] filters is 0", "ArgScope") {
  const Tensor x = image();
  HERE conv2d("conv1", x, {.kernel = 5});
}

WRONG_PROGRAM(a_layer_in_a_linear_wrap, "[fully_connected 'fc'] units is -1") {
  LinearWrap net(image());
  net.conv2d("conv1", {.filters = 4});
  HERE net.fully_connected("fc", {.units = -1});
}

WRONG_PROGRAM(a_layer_of_one_name_twice, "[get_variable 'fc/W'] exists already", "in layer [fully_connected 'fc']") {
  const Tensor x = image();
  fully_connected("fc", x, {.units = 4});
  HERE fully_connected("fc", x, {.units = 4});
}

WRONG_PROGRAM(shared_by_another_number_of_channels, "[get_variable 'conv/W'] exists with f32[3, 3, 3, 4]",
              "f32[3, 3, 4, 4]") {
  VariableScope shared("", Reuse::automatic);
  const Tensor y = conv2d("conv", image(), {.filters = 4});
  HERE conv2d("conv", y, {.filters = 4});
}

WRONG_PROGRAM(dropout_without_a_tower, "[dropout 'drop']", "outside a tower", "TowerContext tower") {
  const Tensor x = image();
  HERE dropout("drop", x);
}

WRONG_PROGRAM(batch_norm_as_activation_without_a_tower, "[batch_norm 'conv1/bn']", "outside a tower",
              "in layer [conv2d 'conv1']") {
  const Tensor x = image();
  HERE conv2d("conv1", x, {.filters = 4, .activation = bn_relu});
}

WRONG_PROGRAM(a_network_deeper_than_any, "[resnet] there is no network of depth 51") {
  TowerContext tower("", true);
  const Tensor x = image();
  HERE zoo::resnet(x, {.depth = 51});
}

WRONG_PROGRAM(an_image_too_small_for_a_network, "in layer [max_pooling 'pool4']") {
  TowerContext tower("", true);
  const Tensor x = image();
  HERE zoo::vgg(x);
}

WRONG_PROGRAM(a_tower_inside_a_tower, "[tower 'tower1']", "inside tower 'tower0'") {
  TowerContext tower("tower0", true, {.total = 2});
  HERE TowerContext inner("tower1", true, {.index = 1, .total = 2});
}

WRONG_PROGRAM(a_regular_expression_that_is_none, "[regularize_cost 'regularize_cost'] \"fc[\"") {
  TowerContext tower("", true);
  HERE regularize_cost("fc[", l2_regularizer(1));
}

}  // namespace
}  // namespace martello::testing
