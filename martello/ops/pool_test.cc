#include <martello/graph/core_ops.h>
#include <martello/graph/scopes.h>
#include <martello/kernel/cpu/isa.h>
#include <martello/ops/internal/naive_index.h>
#include <martello/ops/internal/pool_loops.h>
#include <martello/ops/internal/pool_shape.h>
#include <martello/ops/internal/test_images.h>
#include <martello/runtime/session.h>
#include <martello/testing/op_test.h>

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

namespace martello::testing {
namespace {

constexpr DataFormat kNchw = DataFormat::nchw;

// Elements under the window of output o, in order, each with its place.
struct Cell {
  double value;
  int64_t place, at;
};
std::vector<Cell> cells_of(const HostTensor& x, const PoolAttrs& a, const Index& o) {
  const int h = internal::height_axis(a.data_format);
  const Shape& s = x.shape();
  const auto axes = internal::pool_axes("", a, s[h], s[h + 1]);
  std::vector<Cell> cells;
  for (int64_t i = 0; i < a.size.h; ++i)
    for (int64_t j = 0; j < a.size.w; ++j) {
      Index at = o;
      int64_t &row = at[static_cast<size_t>(h)], &column = at[static_cast<size_t>(h) + 1];
      row = row * axes.h.stride - axes.h.before + i;
      column = column * axes.w.stride - axes.w.before + j;
      if (row < 0 || row >= s[h] || column < 0 || column >= s[h + 1]) continue;
      cells.push_back({x.at(flat_index(s, at)), i * a.size.w + j, flat_index(s, at)});
    }
  return cells;
}
Shape pooled(const Shape& x, const PoolAttrs& a) {
  const int h = internal::height_axis(a.data_format);
  const auto axes = internal::pool_axes("", a, x[h], x[h + 1]);
  return x.with(h, axes.h.out).with(h + 1, axes.w.out);
}
Cell largest(const std::vector<Cell>& cells) {
  Cell best = cells[0];
  for (const Cell& c : cells)
    if (!std::isnan(best.value) && (c.value > best.value || std::isnan(c.value))) best = c;
  return best;
}
double mean(const std::vector<Cell>& cells) {
  double sum = 0;
  for (const Cell& c : cells) sum += c.value;
  return sum / static_cast<double>(cells.size());
}

HostTensors naive_max(const HostTensor& x, const PoolAttrs& a) {
  const Shape y = pooled(x.shape(), a);
  return {tabulate(y, f64, [&](const Index& o) { return largest(cells_of(x, a, o)).value; }),
          tabulate(y, i64, [&](const Index& o) { return static_cast<double>(largest(cells_of(x, a, o)).place); })};
}

OpCase max_row(std::string label, HostTensor x, PoolAttrs a) {
  return {.label = std::move(label),
          .inputs = {std::move(x)},
          .build =
              [=](TensorList in) {
                const Tensor y = max_pool(in[0], a);
                return TensorList{y, Tensor(y.op(), 1)};
              },
          .reference = [=](const HostTensors& in) { return naive_max(in[0], a); }};
}
OpCase avg_row(std::string label, HostTensor x, PoolAttrs a) {
  return {.label = std::move(label),
          .inputs = {std::move(x)},
          .build = [=](TensorList in) { return avg_pool(in[0], a); },
          .reference =
              [=](const HostTensors& in) {
                const Shape y = pooled(in[0].shape(), a);
                return HostTensors{tabulate(y, f64, [&](const Index& o) { return mean(cells_of(in[0], a, o)); })};
              },
          .second_order = true};
}

// dx of the definition. Inputs: x, dy.
HostTensors naive_max_grad(const HostTensors& in, const PoolAttrs& a) {
  HostTensor dx(in[0].shape(), f64);
  tabulate(in[1].shape(), f64, [&](const Index& o) {
    const int64_t to = largest(cells_of(in[0], a, o)).at;
    dx.set(to, dx.at(to) + at(in[1], o));
    return 0.0;
  });
  return {dx};
}
HostTensors naive_avg_grad(const HostTensors& in, const PoolAttrs& a) {
  HostTensor dx(in[0].shape(), f64);
  tabulate(in[1].shape(), f64, [&](const Index& o) {
    const auto cells = cells_of(in[0], a, o);
    for (const Cell& c : cells) dx.set(c.at, dx.at(c.at) + at(in[1], o) / static_cast<double>(cells.size()));
    return 0.0;
  });
  return {dx};
}
Shape image_of(const Tensor& x, const PoolAttrs& a) {
  const int h = internal::height_axis(a.data_format);
  return x.shape().slice(h, h + 2);
}
OpCase grad_row(std::string label, HostTensor x, PoolAttrs a, bool is_max) {
  const Shape y = pooled(x.shape(), a);
  return {.label = std::move(label),
          .inputs = {std::move(x), randn(y, 9)},
          .build =
              [=](TensorList in) {
                const PoolGradAttrs g{a, image_of(in[0], a)};
                if (!is_max) return TensorList(add_op(op_avg_pool_grad, {in[1]}, g, "dx"));
                const Tensor index(max_pool(in[0], a).op(), 1);
                return TensorList(add_op(op_max_pool_grad, {index, in[1]}, g, "dx"));
              },
          .reference = [=](const HostTensors& in) { return is_max ? naive_max_grad(in, a) : naive_avg_grad(in, a); },
          .gradient = false,
          .unknown_shapes = false};
}
OpCase take_row(std::string label, HostTensor x, PoolAttrs a) {
  return {.label = std::move(label),
          .inputs = {std::move(x)},
          .build =
              [=](TensorList in) {
                return add_op(op_max_pool_take, {in[0], Tensor(max_pool(in[0], a).op(), 1)}, a, "take");
              },
          .reference = [=](const HostTensors& in) { return HostTensors{naive_max(in[0], a)[0]}; },
          .second_order = true};
}
const PoolAttrs kOverlapping{.size = 3, .stride = 2, .padding = Pad::same};
const PoolAttrs kUneven{.size = {3, 2}, .stride = {1, 3}, .padding = {1, 0, 0, 1}};
PoolAttrs channels_first(PoolAttrs a) {
  a.data_format = kNchw;
  return a;
}
// Windows that lie side by side, overlap, reach into padding and leave gaps.
std::vector<PoolAttrs> windows() {
  return {
      {}, kOverlapping, kUneven, {.size = {1, 2}, .stride = {2, 1}}, {.size = 2, .stride = 1, .padding = Pad::same}};
}

const OpTestRows max_rows("max_pool", __FILE__, __LINE__, image_rows(windows(), max_row));
const OpTestRows max_grad_rows("max_pool_grad", __FILE__, __LINE__,
                               image_rows(windows(), [](std::string label, HostTensor x, PoolAttrs a) {
                                 return grad_row(std::move(label), std::move(x), a, true);
                               }));
const OpTestRows take_rows("max_pool_take", __FILE__, __LINE__, image_rows(windows(), take_row));
const OpTestRows avg_rows("avg_pool", __FILE__, __LINE__, image_rows(windows(), avg_row));
const OpTestRows avg_grad_rows("avg_pool_grad", __FILE__, __LINE__,
                               image_rows(windows(), [](std::string label, HostTensor x, PoolAttrs a) {
                                 return grad_row(std::move(label), std::move(x), a, false);
                               }));

}  // namespace

OP_TEST(max_pool, twice(max_row("halves", randn({2, 4, 6, 3}), {})),
        max_row("overlapping", randn({2, 7, 6, 3}), kOverlapping), max_row("uneven", randn({1, 5, 7, 2}), kUneven),
        max_row("channels first", randn({2, 3, 7, 6}), channels_first(kOverlapping)),
        max_row("uneven, channels first", randn({1, 2, 5, 7}), channels_first(kUneven)),
        value_only(max_row("many channels", randn({2, 9, 8, 100}), kOverlapping)),
        value_only(max_row("many images", randn({40, 14, 14, 16}), {})),
        value_only(max_row("a large window", randn({1, 20, 20, 5}), {.size = 18, .stride = 1})),
        value_only(max_row("a large window first", randn({1, 5, 20, 20}), channels_first({.size = 18, .stride = 1}))),
        value_only(max_row("no images", randn({0, 4, 4, 3}), {})),
        value_only(max_row("no channels", randn({2, 4, 4, 0}), {})));

OP_TEST(max_pool_grad, grad_row("overlapping", randn({2, 7, 6, 35}), kOverlapping, true),
        grad_row("halves", randn({2, 8, 6, 64}), {}, true), grad_row("uneven", randn({1, 5, 7, 2}), kUneven, true),
        grad_row("channels first", randn({2, 3, 7, 6}), channels_first(kOverlapping), true),
        grad_row("a large window", randn({1, 20, 20, 5}), {.size = 18, .stride = 1}, true));

OP_TEST(max_pool_take, take_row("overlapping", randn({2, 5, 4, 3}), kOverlapping),
        take_row("channels first", randn({2, 3, 5, 4}), channels_first(kOverlapping)));

OP_TEST(avg_pool, avg_row("halves", randn({2, 4, 6, 3}), {}), avg_row("overlapping", randn({2, 5, 6, 3}), kOverlapping),
        avg_row("uneven", randn({1, 5, 7, 2}), kUneven),
        avg_row("channels first", randn({2, 3, 5, 6}), channels_first(kUneven)),
        value_only(avg_row("many channels", randn({2, 9, 8, 100}), kOverlapping)),
        value_only(avg_row("no images", randn({0, 4, 4, 3}), {})));

OP_TEST(avg_pool_grad, grad_row("overlapping", randn({2, 7, 6, 35}), kOverlapping, false),
        grad_row("channels first", randn({2, 3, 5, 7}), channels_first(kUneven), false));

OP_REFUSES(max_pool, rank_three,
           [] {
             max_pool(placeholder({2, 3, 4}, f32, "x"));
           },
           {"max_pool", "[2, 3, 4]", "rank 4"})
OP_REFUSES(max_pool, integers, [] { max_pool(placeholder({2, 3, 4, 5}, i32, "x")); }, {"max_pool", "i32", "f32"})
OP_REFUSES(max_pool, an_empty_window,
           [] {
             max_pool(placeholder({2, 3, 4, 5}, f32, "x"), {.size = {0, 2}});
           },
           {"max_pool", "size is [0, 2]"})
OP_REFUSES(max_pool, a_window_of_padding,
           [] {
             max_pool(placeholder({2, 3, 4, 5}, f32, "x"), {.size = 2, .padding = {2, 0, 0, 0}});
           },
           {"max_pool", "padding [2, 0, 0, 0]", "[2, 2]"})
OP_REFUSES(max_pool, images_without_pixels,
           [] {
             max_pool(placeholder({4, 2, 0, 0}, f32, "x"),
                      {.size = 2, .padding = {1, 1, 1, 1}, .data_format = DataFormat::nchw});
           },
           {"max_pool", "height 0 and width 0", "no pixels"})
OP_REFUSES(avg_pool, images_without_pixels,
           [] {
             avg_pool(placeholder({4, 5, 0, 2}, f32, "x"), {.size = 2, .padding = {1, 1, 1, 1}});
           },
           {"avg_pool", "height 5 and width 0", "no pixels"})
OP_REFUSES(max_pool, a_negative_stride,
           [] {
             max_pool(placeholder({2, 3, 4, 5}, f32, "x"), {.stride = -1});
           },
           {"max_pool", "stride is [-1, -1]"})
OP_REFUSES(avg_pool, a_window_that_fits_nowhere,
           [] {
             avg_pool(placeholder({2, 3, 4, 5}, f32, "x"), {.size = 4});
           },
           {"avg_pool", "height 4", "height 3"})
OP_REFUSES(max_pool_grad, another_index,
           [] {
             const Tensor dy = placeholder({1, 2, 2, 3}, f32, "dy");
             add_op(op_max_pool_grad, {placeholder({1, 2, 2, 3}, i32, "index"), dy}, PoolGradAttrs{{}, {4, 4}}, "dx");
           },
           {"max_pool_grad", "i32", "u8"})
OP_REFUSES(avg_pool_grad, another_image,
           [] {
             add_op(op_avg_pool_grad, {placeholder({1, 2, 2, 3}, f32, "dy")}, PoolGradAttrs{{}, {4, 6}}, "dx");
           },
           {"avg_pool_grad", "[1, 2, 2, 3]", "[1, 2, 3, 3]"})

namespace {

HostTensor run_one(const HostTensor& x, const std::function<Tensor(Tensor)>& f) {
  GraphScope scope;
  const Tensor y = f(placeholder(x.shape(), x.dtype(), "x"));
  return Session(Graph::current()).run(y, {{"x", x}})[0];
}

// Gradients of both kinds, dx aligned so that it can be streamed.
template <class T>
std::vector<T> all_gradients(const cpu::PoolLoops<T, uint8_t>& loops, const cpu::AvgPoolLoops<T>& avg_loops,
                             int64_t channels, bool may_stream) {
  const cpu::PoolImage image{{7, 3, 3, 2, 0}, {5, 3, 3, 2, 1}, channels};
  const int64_t outputs = 9 * channels, inputs = 35 * channels;
  const HostTensor dy = randn({outputs}).cast(dtype_of<T>), places = uniform({outputs}, 0, 9, 2);
  std::vector<uint8_t> index;
  for (int64_t i = 0; i < outputs; ++i) index.push_back(static_cast<uint8_t>(places.at(i)));
  HostTensor dx(Shape(2, inputs), dtype_of<T>);
  T *max = dx.mutable_data<T>().data(), *avg = max + inputs;
  for (int64_t row = 0; row < image.h.in; ++row) {
    loops.max_grad(dy.data<T>().data(), index.data(), max, image, row, may_stream);
    avg_loops.mean_grad(dy.data<T>().data(), avg, image, row, may_stream);
  }
  return {max, max + 2 * inputs};
}

}  // namespace

TEST(max_pool, keeps_nan_and_the_first_of_equals) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const DataFormat format : {DataFormat::nhwc, kNchw}) {
    const Shape shape = format == kNchw ? Shape(1, 1, 2, 4) : Shape(1, 2, 4, 1);
    const HostTensor x = HostTensor::of<double>({1, nan, 5, 5, 3, 2, 5, -1}, shape);
    const auto pool = [&](Tensor t, int i) { return Tensor(max_pool(t, {.data_format = format}).op(), i); };
    const HostTensor y = run_one(x, [&](Tensor t) { return pool(t, 0); });
    const HostTensor index = run_one(x, [&](Tensor t) { return pool(t, 1); });
    EXPECT_TRUE(std::isnan(y.at(0)));
    EXPECT_EQ(index.at(0), 1);
    EXPECT_EQ(y.at(1), 5);
    EXPECT_EQ(index.at(1), 0);
  }
}

TEST(pool_loops, have_the_same_gradients_on_every_instruction_set_streamed_or_not) {
  for (const int64_t channels : {1, 16, 35, 64, 112}) {
    const auto expected = all_gradients(cpu::v2::pool_loops_f32_u8, cpu::v2::avg_pool_loops_f32, channels, false);
    const auto expect_same = [&](const auto& loops, const auto& avg_loops) {
      for (const bool may_stream : {false, true}) {
        const auto dx = all_gradients(loops, avg_loops, channels, may_stream);
        EXPECT_EQ(std::memcmp(dx.data(), expected.data(), dx.size() * sizeof(float)), 0) << channels;
      }
    };
    expect_same(cpu::v2::pool_loops_f32_u8, cpu::v2::avg_pool_loops_f32);
    if (cpu::host_isa() >= cpu::Isa::v3) expect_same(cpu::v3::pool_loops_f32_u8, cpu::v3::avg_pool_loops_f32);
    if (cpu::host_isa() >= cpu::Isa::v4) expect_same(cpu::v4::pool_loops_f32_u8, cpu::v4::avg_pool_loops_f32);
  }
}

}  // namespace martello::testing
