#include <martello/base/internal/test_text.h>
#include <martello/graph/core_ops.h>
#include <martello/graph/scopes.h>
#include <martello/ops/internal/test_images.h>
#include <martello/ops/sparse_softmax_cross_entropy.h>
#include <martello/runtime/session.h>
#include <martello/testing/op_test.h>

#include <gtest/gtest.h>

#include <cmath>

namespace martello::testing {
namespace {

// loss and prob of rows of n.
HostTensors naive_loss(const HostTensor& x, const HostTensor& label) {
  const int64_t n = x.shape()[-1];
  HostTensor loss(label.shape(), f64), prob(x.shape(), f64);
  for (int64_t r = 0; r < label.num_elements(); ++r) {
    double max = x.at(r * n), sum = 0;
    for (int64_t i = 0; i < n; ++i) max = std::max(max, x.at(r * n + i));
    for (int64_t i = 0; i < n; ++i) sum += std::exp(x.at(r * n + i) - max);
    for (int64_t i = 0; i < n; ++i) prob.set(r * n + i, std::exp(x.at(r * n + i) - max) / sum);
    loss.set(r, std::log(sum) - (x.at(r * n + static_cast<int64_t>(label.at(r))) - max));
  }
  return {loss, prob};
}

OpCase loss_row(std::string label, Shape labels, int64_t classes, DType dtype = i32) {
  Shape logits = labels;
  logits.push_back(classes);
  return {.label = std::move(label),
          .inputs = {randn(logits), integers(labels, 0, classes, dtype)},
          .build = [](TensorList x) { return TensorList{sparse_softmax_cross_entropy(x[0], x[1])}; },
          .reference = [](const HostTensors& x) { return HostTensors{naive_loss(x[0], x[1])[0]}; },
          .second_order = true};
}

OpCase grad_row(std::string label, Shape labels, int64_t classes, DType dtype = i32) {
  OpCase c = loss_row(std::move(label), labels, classes, dtype);
  c.inputs[0] = uniform(c.inputs[0].shape(), 0, 1);
  c.inputs.push_back(randn(labels, 3));
  c.build = [](TensorList x) { return TensorList{sparse_softmax_cross_entropy_grad(x[0], x[1], x[2])}; };
  c.reference = [=](const HostTensors& x) {
    HostTensor y(x[0].shape(), f64);
    for (int64_t i = 0; i < y.num_elements(); ++i) {
      const bool is_label = x[1].at(i / classes) == static_cast<double>(i % classes);
      y.set(i, (x[0].at(i) - is_label) * x[2].at(i / classes));
    }
    return HostTensors{y};
  };
  return c;
}

// A class for each element of the last dimension.
std::vector<OpCase> image_rows_of(OpCase (*row)(std::string, Shape, int64_t, DType)) {
  return image_rows<DType>({i32, i64}, [=](std::string label, const HostTensor& x, DType dtype) {
    return row(std::move(label), x.shape().slice(0, 3), x.shape()[3], dtype);
  });
}

OpCase both_row(Shape labels, int64_t classes) {
  OpCase c = loss_row("loss and prob", labels, classes);
  c.build = [](TensorList x) { return outputs_of(sparse_softmax_cross_entropy(x[0], x[1]).op()); };
  c.reference = [](const HostTensors& x) { return naive_loss(x[0], x[1]); };
  return c;
}

OpCase large_logits() {
  OpCase c = loss_row("large logits", {2}, 3);
  c.inputs[0] = HostTensor::of<double>({1000, 999.5, -1000, 3e4, 3e4, 2e4}, {2, 3});
  c.gradient_tolerance = 1e-4;
  c.second_order = false;
  return c;
}

}  // namespace

OP_TEST(sparse_softmax_cross_entropy, loss_row("few classes", {6}, 4), loss_row("ten classes", {70}, 10, i64),
        loss_row("many classes", {3}, 137), loss_row("sequence", {3, 4}, 5), loss_row("one row", {}, 7),
        loss_row("no rows", {0}, 7), loss_row("one class", {4}, 1), both_row({5}, 4), large_logits());

OP_TEST(sparse_softmax_cross_entropy_grad, grad_row("rows", {5}, 7));

namespace {

const OpTestRows loss_rows("sparse_softmax_cross_entropy", __FILE__, __LINE__, image_rows_of(loss_row));
const OpTestRows grad_rows("sparse_softmax_cross_entropy_grad", __FILE__, __LINE__, image_rows_of(grad_row));

}  // namespace

OP_REFUSES(sparse_softmax_cross_entropy, labels_of_another_shape,
           [] {
             sparse_softmax_cross_entropy(placeholder({4, 3}, f32, "x"), placeholder({5}, i32, "label"));
           },
           {"sparse_softmax_cross_entropy", "[5]", "[4]"})
OP_REFUSES(sparse_softmax_cross_entropy, floating_labels,
           [] {
             sparse_softmax_cross_entropy(placeholder({4, 3}, f32, "x"), placeholder({4}, f32, "label"));
           },
           {"sparse_softmax_cross_entropy", "f32[4]", "i32"})
OP_REFUSES(sparse_softmax_cross_entropy, scalar_logits,
           [] { sparse_softmax_cross_entropy(placeholder({}, f32, "x"), placeholder({}, i32, "label")); },
           {"sparse_softmax_cross_entropy", "classes"})
OP_REFUSES(sparse_softmax_cross_entropy, integer_logits,
           [] {
             sparse_softmax_cross_entropy(placeholder({4, 3}, i32, "x"), placeholder({4}, i32, "label"));
           },
           {"sparse_softmax_cross_entropy", "i32[4, 3]", "f32"})

TEST(sparse_softmax_cross_entropy, refuses_a_label_out_of_range_when_it_runs) {
  for (const int32_t bad : {3, -1}) {
    GraphScope scope;
    const Tensor label = placeholder({2}, i32, "label");
    const Tensor loss = sparse_softmax_cross_entropy(placeholder({2, 3}, f32, "x"), label, "loss");
    Session session(scope.graph());
    const std::string text = error_of<InvalidArgument>([&] {
      session.run(loss, {{"x", HostTensor({2, 3}, f32)}, {"label", HostTensor::of<int32_t>({0, bad})}});
    });
    for (const std::string& part : {std::string("'loss'"), str("label[1] is ", bad), std::string("3 classes")})
      EXPECT_CONTAINS(text, part);
  }
}

}  // namespace martello::testing
