#include <martello/autodiff/gradients.h>
#include <martello/graph/core_ops.h>
#include <martello/graph/scopes.h>
#include <martello/ops/attention.h>
#include <martello/runtime/session.h>
#include <martello/testing/op_test.h>

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace martello::testing {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

struct Sizes {
  Shape batch;
  int64_t queries, keys, width, values;
};

Shape with_matrix(Shape batch, int64_t rows, int64_t columns) {
  batch.push_back(rows);
  batch.push_back(columns);
  return batch;
}

// Element (batch b, query i, key j) of a mask that broadcasts.
double mask_at(const HostTensor& mask, const Shape& scores, int64_t flat) {
  int64_t at = 0, stride = 1;
  for (int i = 1; i <= scores.rank(); ++i) {
    const int64_t index = flat % scores[-i];
    flat /= scores[-i];
    if (i > mask.shape().rank()) continue;
    if (mask.shape()[-i] != 1) at += index * stride;
    stride *= mask.shape()[-i];
  }
  const double value = mask.at(at);
  return mask.dtype() == boolean ? (value != 0 ? 0 : -kInf) : value;
}

double scale_of(const HostTensors& in, AttentionAttrs a) {
  return a.scale != 0 ? a.scale : 1 / std::sqrt(static_cast<double>(in[0].shape()[-1]));
}

// scale q k^T + mask, -inf where nothing is seen. The mask is input `mask`, when there are so many.
HostTensor naive_scores(const HostTensors& in, AttentionAttrs a, size_t mask) {
  const Shape& q = in[0].shape();
  const int64_t queries = q[-2], keys = in[1].shape()[-2], width = q[-1];
  HostTensor s(q.with(q.rank() - 1, keys), f64);
  for (int64_t i = 0; i < s.num_elements(); ++i) {
    const int64_t row = i / keys, j = i % keys, key = row / queries * keys + j;
    double dot = 0;
    for (int64_t k = 0; k < width; ++k) dot += in[0].at(row * width + k) * in[1].at(key * width + k);
    const double added = in.size() > mask ? mask_at(in[mask], s.shape(), i) : 0;
    s.set(i, a.causal && j > row % queries ? -kInf : dot * scale_of(in, a) + added);
  }
  return s;
}

// y and lse.
HostTensors naive_attention(const HostTensors& in, AttentionAttrs a) {
  const Shape &q = in[0].shape(), &v = in[2].shape();
  const int64_t queries = q[-2], keys = v[-2], values = v[-1];
  const HostTensor s = naive_scores(in, a, 3);
  HostTensor y(q.with(q.rank() - 1, values), f64), lse(q.slice(0, q.rank() - 1), f64);
  for (int64_t row = 0; row < lse.num_elements(); ++row) {
    double max = -kInf, sum = 0;
    for (int64_t j = 0; j < keys; ++j) max = std::max(max, s.at(row * keys + j));
    for (int64_t j = 0; j < keys; ++j) sum += max == -kInf ? 0 : std::exp(s.at(row * keys + j) - max);
    lse.set(row, sum == 0 ? kInf : max + std::log(sum));
    for (int64_t j = 0; j < keys && sum != 0; ++j)
      for (int64_t k = 0; k < values; ++k)
        y.set(row * values + k, y.at(row * values + k) + std::exp(s.at(row * keys + j) - max) / sum *
                                                             in[2].at((row / queries * keys + j) * values + k));
  }
  return {y, lse};
}

// dq, dk, dv of the definition. Inputs: q, k, v, y, lse, dy and a mask.
HostTensors naive_attention_grad(const HostTensors& in, AttentionAttrs a) {
  const Shape &q = in[0].shape(), &v = in[2].shape();
  const int64_t queries = q[-2], keys = v[-2], width = q[-1], values = v[-1];
  const HostTensor s = naive_scores(in, a, 6);
  HostTensor dq(q, f64), dk(in[1].shape(), f64), dv(v, f64);
  const auto add = [](HostTensor& t, int64_t i, double x) { t.set(i, t.at(i) + x); };
  for (int64_t i = 0; i < s.num_elements(); ++i) {
    const int64_t row = i / keys, key = row / queries * keys + i % keys;
    const double p = std::exp(s.at(i) - in[4].at(row));
    double slope = 0;
    for (int64_t k = 0; k < values; ++k) {
      const double dy = in[5].at(row * values + k);
      slope += dy * (in[2].at(key * values + k) - in[3].at(row * values + k));
      add(dv, key * values + k, p * dy);
    }
    const double ds = p * slope * scale_of(in, a);
    for (int64_t k = 0; k < width; ++k) {
      add(dq, row * width + k, ds * in[1].at(key * width + k));
      add(dk, key * width + k, ds * in[0].at(row * width + k));
    }
  }
  return {dq, dk, dv};
}

OpCase row(std::string label, Sizes s, AttentionAttrs a = {}) {
  return {.label = std::move(label),
          .inputs = {randn(with_matrix(s.batch, s.queries, s.width)), randn(with_matrix(s.batch, s.keys, s.width), 2),
                     randn(with_matrix(s.batch, s.keys, s.values), 3)},
          .build =
              [=](TensorList in) {
                const Tensor y = in.size() > 3 ? scaled_dot_product_attention(in[0], in[1], in[2], in[3], a)
                                               : scaled_dot_product_attention(in[0], in[1], in[2], a);
                return TensorList{y};
              },
          .reference = [=](const HostTensors& in) { return HostTensors{naive_attention(in, a)[0]}; }};
}

OpCase twice(OpCase c) {
  c.second_order = true;
  return c;
}

OpCase masked(std::string label, Sizes s, HostTensor mask, AttentionAttrs a = {}) {
  OpCase c = row(std::move(label), s, a);
  c.inputs.push_back(std::move(mask));
  return c;
}

OpCase both_outputs() {
  OpCase c = row("y and lse", {{2, 3}, 5, 7, 4, 6});
  c.build = [](TensorList in) { return outputs_of(scaled_dot_product_attention(in[0], in[1], in[2]).op()); };
  c.reference = [](const HostTensors& in) { return naive_attention(in, {}); };
  return c;
}

// Query 1 sees nothing.
OpCase blind_query() {
  HostTensor mask = booleans({5, 6});
  for (int64_t i = 0; i < 5; ++i) mask.set(i * 6, true);
  for (int64_t j = 0; j < 6; ++j) mask.set(6 + j, false);
  return twice(masked("a query that sees nothing", {{2}, 5, 6, 3, 4}, mask));
}

OpCase large_scores() {
  OpCase c = row("large scores", {{1}, 3, 300, 2, 2}, {.scale = 300});
  c.gradient = false;
  c.tolerance = 1e-3;
  c.dtypes = {f64};
  return c;
}

// Of a row's y.
OpCase grad_of(OpCase c, AttentionAttrs a) {
  const HostTensors out = naive_attention(c.inputs, a);
  c.inputs.insert(c.inputs.begin() + 3, {out[0], out[1], randn(out[0].shape(), 4)});
  c.build = [=](TensorList in) {
    return outputs_of(add_operation(op_scaled_dot_product_attention_grad, {in.begin(), in.end()}, Attrs(a), "grad"));
  };
  c.reference = [=](const HostTensors& in) { return naive_attention_grad(in, a); };
  c.tolerance = 2e-5;
  return c;
}
OpCase grad_row(std::string label, Sizes s, AttentionAttrs a) { return grad_of(row(std::move(label), s, a), a); }

// Every query sees the first key.
HostTensor mask_of_bools(int64_t queries, int64_t keys) {
  HostTensor mask = booleans({queries, keys});
  for (int64_t i = 0; i < queries; ++i) mask.set(i * keys, true);
  return mask;
}

// None, one and several heads of width 1, 3 and 17 with each kind of mask in turn; or their gradients.
std::vector<OpCase> rows_of(bool is_gradient) {
  std::vector<OpCase> rows;
  for (const Shape& batch : {Shape(0), Shape(1), Shape(3), Shape(0, 2), Shape(2, 1), Shape(2, 3), Shape()})
    for (const int64_t width : {1, 3, 17}) {
      const size_t kind = rows.size() % 4;
      const AttentionAttrs a{.causal = kind == 1};
      OpCase c = row(str(batch, " of ", width), {batch, 4, a.causal ? 4 : 5, width, width}, a);
      if (kind == 2) c.inputs.push_back(randn({4, 5}, 9));
      if (kind == 3) c.inputs.push_back(mask_of_bools(4, 5));
      rows.push_back(is_gradient ? grad_of(std::move(c), a) : std::move(c));
    }
  return rows;
}
const OpTestRows small_rows("scaled_dot_product_attention", __FILE__, __LINE__, rows_of(false));
const OpTestRows small_grad_rows("scaled_dot_product_attention_grad", __FILE__, __LINE__, rows_of(true));

}  // namespace

OP_TEST(scaled_dot_product_attention, twice(row("heads", {{2, 3}, 5, 7, 4, 6})), row("a matrix", {{}, 3, 4, 5, 2}),
        row("one of each", {{1, 1}, 1, 1, 1, 1}), twice(row("causal", {{1, 2}, 6, 6, 3, 3}, {.causal = true})),
        row("blocks of queries and keys", {{2}, 101, 300, 17, 33}),
        row("causal blocks", {{1, 1}, 290, 290, 8, 8}, {.causal = true}), row("many keys", {{1}, 2, 1100, 3, 3}),
        row("wide", {{1}, 20, 20, 130, 70}), row("scaled", {{2}, 4, 4, 3, 3}, {.scale = 0.7}),
        row("rank six", {{1, 2, 1, 2}, 3, 4, 2, 2}), row("no batch", {{0, 2}, 3, 4, 2, 2}),
        row("no queries", {{2}, 0, 4, 3, 3}), row("no keys", {{2}, 3, 0, 2, 2}), row("no values", {{2}, 3, 4, 2, 0}),
        masked("added mask", {{2, 3}, 4, 5, 3, 3}, randn({2, 3, 4, 5}, 9)),
        twice(masked("mask of keys", {{2, 3}, 4, 5, 3, 3}, randn({2, 1, 1, 5}, 9))),
        masked("mask of heads", {{2, 3}, 4, 5, 3, 3}, randn({3, 4, 5}, 9)),
        masked("vector as mask", {{2}, 50, 300, 3, 3}, randn({300}, 9)),
        masked("mask of queries", {{2}, 60, 60, 3, 3}, randn({60, 60}, 9), {.causal = true}), blind_query(),
        both_outputs(), large_scores());
OP_TEST(scaled_dot_product_attention_grad, grad_row("plain", {{2}, 4, 5, 3, 2}, {}),
        grad_row("causal", {{1, 2}, 5, 5, 2, 3}, {.causal = true}), grad_row("no keys", {{2}, 3, 0, 2, 2}, {}),
        grad_row("few batches, many blocks", {{1}, 150, 150, 4, 4}, {.causal = true}));

OP_REFUSES(scaled_dot_product_attention, other_widths,
           [] {
             scaled_dot_product_attention(placeholder({2, 4, 8}, f32, "q"), placeholder({2, 5, 7}, f32, "k"),
                                          placeholder({2, 5, 8}, f32, "v"), {}, "look");
           },
           {"[scaled_dot_product_attention 'look']", "width 7", "has 8"})
OP_REFUSES(scaled_dot_product_attention, other_keys,
           [] {
             scaled_dot_product_attention(placeholder({2, 4, 8}, f32, "q"), placeholder({2, 5, 8}, f32, "k"),
                                          placeholder({2, 6, 8}, f32, "v"));
           },
           {"scaled_dot_product_attention", "6 keys", "5"})
OP_REFUSES(scaled_dot_product_attention, other_heads,
           [] {
             scaled_dot_product_attention(placeholder({2, 4, 8}, f32, "q"), placeholder({3, 5, 8}, f32, "k"),
                                          placeholder({2, 5, 8}, f32, "v"));
           },
           {"scaled_dot_product_attention", "[3]", "[2]"})
OP_REFUSES(scaled_dot_product_attention, causal_without_a_diagonal,
           [] {
             const Tensor k = placeholder({2, 5, 8}, f32, "k");
             scaled_dot_product_attention(placeholder({2, 4, 8}, f32, "q"), k, k, {.causal = true});
           },
           {"scaled_dot_product_attention", "4 queries", "5 keys", "mask"})
OP_REFUSES(scaled_dot_product_attention, a_negative_scale,
           [] {
             const Tensor k = placeholder({2, 5, 8}, f32, "k");
             scaled_dot_product_attention(k, k, k, {.scale = -1});
           },
           {"scaled_dot_product_attention", "scale is -1"})
OP_REFUSES(scaled_dot_product_attention, a_mask_that_does_not_fit,
           [] {
             const Tensor k = placeholder({2, 5, 8}, f32, "k");
             scaled_dot_product_attention(k, k, k, placeholder({4, 5}, f32, "mask"));
           },
           {"scaled_dot_product_attention", "mask [4, 5]", "[2, 5, 5]"})
OP_REFUSES(scaled_dot_product_attention, an_integer_mask,
           [] {
             const Tensor k = placeholder({2, 5, 8}, f32, "k");
             scaled_dot_product_attention(k, k, k, placeholder({5, 5}, i32, "mask"));
           },
           {"scaled_dot_product_attention", "i32[5, 5]", "bool"})
OP_REFUSES(scaled_dot_product_attention, vectors,
           [] {
             const Tensor k = placeholder({5}, f32, "k");
             scaled_dot_product_attention(k, k, k);
           },
           {"scaled_dot_product_attention", "[5]", "at least 2"})
TEST(scaled_dot_product_attention, keeps_no_scores) {
  GraphScope scope;
  const int64_t n = 4096;
  const Tensor q = placeholder({1, 1, n, 8}, f32, "q");
  const Tensor y = scaled_dot_product_attention(q, q, q, {.causal = true});
  const auto plan = Session().memory_plan(TensorList{y, gradients(y, q)[0]}, {{q, HostTensor({1, 1, n, 8}, f32)}});
  EXPECT_LT(plan.devices[0].arena_bytes, n * 8 * 4 * 16) << "a few tensors like q, far from " << n * n * 4;
}

TEST(scaled_dot_product_attention, nan_stays_nan) {
  GraphScope scope;
  const Tensor q = placeholder({1, 2, 2}, f32, "q");
  HostTensor value = HostTensor::full({1, 2, 2}, f32, 1);
  value.set(0, std::nan(""));
  const HostTensor y = Session().eval(scaled_dot_product_attention(q, q, q), {{q, value}});
  for (int64_t i = 0; i < 4; ++i) EXPECT_TRUE(std::isnan(y.at(i))) << i;
}

}  // namespace martello::testing
