#include <martello/graph/core_ops.h>
#include <martello/ops/internal/naive_index.h>
#include <martello/ops/internal/test_images.h>
#include <martello/ops/pad.h>
#include <martello/testing/op_test.h>

#include <gtest/gtest.h>

namespace martello::testing {
namespace {

// The place that place p of a padded axis shows; -1: none.
int64_t mirrored(PadMode mode, int64_t p, int64_t n) {
  if (p >= 0 && p < n) return p;
  if (mode == PadMode::constant) return -1;
  if (mode == PadMode::reflect) return p < 0 ? -p : 2 * (n - 1) - p;
  return p < 0 ? -p - 1 : 2 * n - 1 - p;
}

HostTensor naive_pad(const HostTensor& x, const PadAttrs& a) {
  Shape y;
  for (int i = 0; i < x.shape().rank(); ++i)
    y.push_back(a.before[static_cast<size_t>(i)] + x.shape()[i] + a.after[static_cast<size_t>(i)]);
  return tabulate(y, x.dtype(), [&](Index i) {
    for (size_t d = 0; d < i.size(); ++d) {
      i[d] = mirrored(a.mode, i[d] - a.before[d], x.shape()[static_cast<int>(d)]);
      if (i[d] < 0) return a.value;
    }
    return at(x, i);
  });
}

OpCase pad_case(std::string label, const HostTensor& x, PadAttrs a) {
  return {.label = std::move(label),
          .inputs = {x},
          .build = [a](TensorList in) { return TensorList{pad(in[0], a)}; },
          .reference = [a](const HostTensors& in) { return HostTensors{naive_pad(in[0], a)}; },
          .dtypes = {f32, f64, bf16, f16},
          .second_order = is_floating(x.dtype())};
}

HostTensors naive_pad_grad(const HostTensors& in) {
  HostTensor dx(Shape(3, 2), in[0].dtype());
  for (int64_t i = 0; i < 6; ++i) {
    const int64_t from = mirrored(PadMode::reflect, i - 2, 3);
    for (int64_t c = 0; c < 2; ++c) dx.set(from * 2 + c, dx.at(from * 2 + c) + in[0].at(i * 2 + c));
  }
  return {dx};
}

constexpr PadMode kReflect = PadMode::reflect, kSymmetric = PadMode::symmetric;

OP_TEST(pad, pad_case("zeros", randn({3, 4}), {.before = {1, 2}, .after = {0, 3}}),
        pad_case("a value", randn({3, 4}), {.before = {1, 0}, .after = {1, 1}, .value = 2.5}),
        pad_case("rows stay", randn({3, 4, 2}), {.before = {0, 1, 0}, .after = {0, 2, 0}}),
        pad_case("nothing", randn({3, 4}), {.before = {0, 0}, .after = {0, 0}}),
        pad_case("a vector", randn({5}), {.before = {2}, .after = {1}}), pad_case("scalar", randn({}), {}),
        pad_case("empty", randn({0, 3}), {.before = {2, 0}, .after = {0, 1}}),
        pad_case("still empty", randn({2, 0}), {.before = {1, 0}, .after = {0, 0}}),
        pad_case("reflected", randn({4, 3}), {.before = {3, 1}, .after = {2, 2}, .mode = kReflect}),
        pad_case("reflected image", randn({2, 4, 3, 2}),
                 {.before = {0, 2, 1, 0}, .after = {0, 3, 1, 0}, .mode = kReflect}),
        pad_case("symmetric", randn({4, 3}), {.before = {4, 1}, .after = {2, 3}, .mode = kSymmetric}),
        pad_case("symmetric channels", randn({2, 2, 3}), {.before = {0, 0, 2}, .after = {0, 0, 3}, .mode = kSymmetric}),
        pad_case("rank 6", randn({1, 2, 1, 2, 1, 2}),
                 {.before = {1, 0, 0, 1, 0, 1}, .after = {0, 1, 0, 0, 1, 0}, .mode = kSymmetric}),
        pad_case("integers", integers({3}, -9, 9, i64), {.before = {1}, .after = {1}, .value = -1}),
        {.label = "channels",
         .inputs = {randn({2, 3})},
         .build = [](TensorList x) { return TensorList{pad_channels(x[0], 1, 2)}; },
         .reference =
             [](const HostTensors& in) {
               return HostTensors{naive_pad(in[0], {.before = {0, 1}, .after = {0, 2}})};
             }},
        {.label = "channels of nchw",
         .inputs = {randn({2, 3, 2, 4})},
         .build = [](TensorList x) { return TensorList{pad_channels(x[0], 1, 2, DataFormat::nchw)}; },
         .reference =
             [](const HostTensors& in) {
               return HostTensors{naive_pad(in[0], {.before = {0, 1, 0, 0}, .after = {0, 2, 0, 0}})};
             }});
OP_TEST(pad_grad, {.label = "reflected",
                   .inputs = {randn({6, 2})},
                   .build =
                       [](TensorList x) {
                         return TensorList{pad_grad(x[0], {.before = {2, 0}, .after = {1, 0}, .mode = kReflect})};
                       },
                   .reference = naive_pad_grad,
                   .dtypes = {f32, f64, bf16, f16},
                   .second_order = true});

const OpTestRows image_pad_rows(
    "pad", __FILE__, __LINE__,
    image_rows<PadAttrs>({{.before = {0, 1, 2, 0}, .after = {0, 0, 1, 0}},
                          {.before = {0, 0, 1, 0}, .after = {0, 0, 1, 0}, .mode = kReflect},
                          {.before = {0, 1, 2, 0}, .after = {0, 1, 0, 1}, .mode = kSymmetric},
                          {.before = {1, 0, 0, 2}, .after = {0, 1, 0, 0}, .value = 2.5}},
                         pad_case));

OP_REFUSES(pad, too_few_numbers,
           [] {
             pad(placeholder({2, 3}, f32, "x"), {.before = {1}, .after = {1}});
           },
           {"one number per dimension"})
OP_REFUSES(pad, negative, [] { pad(placeholder({2}, f32, "x"), {.before = {-1}, .after = {0}}); }, {"[-1]", "slice"})
OP_REFUSES(pad, reflects_too_much,
           [] { pad(placeholder({3}, f32, "x"), {.before = {3}, .after = {0}, .mode = PadMode::reflect}); },
           {"reflect", "at most 2"})
OP_REFUSES(pad, mirrors_too_much,
           [] { pad(placeholder({3}, f32, "x"), {.before = {0}, .after = {4}, .mode = PadMode::symmetric}); },
           {"symmetric", "at most 3"})
OP_REFUSES(pad, value_of_other_type,
           [] { pad(placeholder({3}, i32, "x"), {.before = {0}, .after = {4}, .value = 0.5}); }, {"0.5", "i32"})
OP_REFUSES(pad, too_large,
           [] { pad(placeholder({int64_t{1} << 62}, f32, "x"), {.before = {int64_t{1} << 62}, .after = {0}}); }, {})
OP_REFUSES(pad, channels_of_a_scalar, [] { pad_channels(placeholder({}, f32, "x"), 1, 1); },
           {"pad_channels", "0 dimensions", "nhwc"})
OP_REFUSES(pad, channels_of_a_vector, [] { pad_channels(placeholder({3}, f32, "x"), 1, 1, DataFormat::nchw); },
           {"1 dimensions", "nchw", "dimension 1"})
OP_REFUSES(pad_grad, smaller_than_padding, [] { pad_grad(placeholder({1}, f32, "x"), {.before = {1}, .after = {1}}); },
           {"smaller", "2"})

}  // namespace
}  // namespace martello::testing
