// A user's own op: definition, kernel and gradient in one program, without a change to Martello.
#include <martello/martello.h>
#include <martello/testing/grad_check.h>

#include <cmath>
#include <cstdio>

namespace mt = martello;

struct SwishAttrs {
  double beta = 1;
  bool operator==(const SwishAttrs&) const = default;
  static void fields(auto& self, auto&& f) { f("beta", self.beta); }
};
mt::Tensor swish(mt::Operand x, SwishAttrs attrs = {}, mt::Name name = "swish");

template <class T>
mt::Kernel swish_kernel(T beta) {
  return [beta](const mt::KernelRun& run) {
    auto x = run.in<T>(0);
    auto y = run.out<T>(0);
    for (size_t i = 0; i < x.size(); ++i) y[i] = x[i] / (1 + std::exp(-beta * x[i]));
  };
}
mt::Kernel swish_cpu(const mt::KernelPlan& plan) {
  const double beta = plan.attrs<SwishAttrs>().beta;
  return plan.in[0].dtype == mt::f32 ? swish_kernel(static_cast<float>(beta)) : swish_kernel(beta);
}

constinit const mt::OpDef op_swish = {
    .name = "swish",
    .doc = "y = x * sigmoid(beta * x)",
    .inputs = {"x"},
    .outputs = {"y"},
    .attrs = &mt::attrs_type<SwishAttrs>,
    .shape =
        [](const mt::ShapeContext& c) {
          c.check_floating(0);
          return std::vector<mt::TensorSpec>{c.in[0]};
        },
    // dx = dy * (s + beta * x * s * (1 - s)),  s = sigmoid(beta * x)
    .gradient =
        [](const mt::GradContext& c) {
          const double beta = c.attrs<SwishAttrs>().beta;
          auto x = c.input(0), s = mt::sigmoid(x * beta);
          return mt::TensorList{c.grad(0) * (s + beta * x * s * (1 - s))};
        },
    .cpu = swish_cpu,
};

mt::Tensor swish(mt::Operand x, SwishAttrs attrs, mt::Name name) { return mt::add_op(op_swish, {x}, attrs, name); }

namespace {

constexpr double kBeta = 1.5;

// y = swish(2 x) and dy/dx.
double naive(double x) { return 2 * x / (1 + std::exp(-kBeta * 2 * x)); }
double naive_gradient(double x) {
  const double s = 1 / (1 + std::exp(-kBeta * 2 * x));
  return 2 * (s + kBeta * 2 * x * s * (1 - s));
}

mt::HostTensor make_input() {
  mt::HostTensor x({4, 7}, mt::f32);
  for (int64_t i = 0; i < x.num_elements(); ++i) x.set(i, 0.25 * static_cast<double>(i) - 3);
  return x;
}

void check_values(const char* what, const mt::HostTensor& x, const mt::HostTensor& got, double (*expected)(double)) {
  MARTELLO_CHECK(got.shape() == x.shape(), "[custom_op] ", what, " has shape ", got.shape(), ", x ", x.shape(), ".");
  for (int64_t i = 0; i < x.num_elements(); ++i)
    MARTELLO_CHECK(std::abs(got.at(i) - expected(x.at(i))) < 1e-5, "[custom_op] ", what, " of ", x.at(i), " is ",
                   got.at(i), ", expected ", expected(x.at(i)), ".");
}

void run() {
  mt::register_op(op_swish);  // for the text of graphs

  mt::GraphScope graph;
  auto x = mt::placeholder({4, 7}, mt::f32, "x");
  auto y = swish(x * 2, {.beta = kBeta}, "y");
  auto dx = mt::gradients(y, x)[0];

  mt::Session session;
  const mt::HostTensor input = make_input();
  const mt::HostTensors values = session.run({y, dx}, {{x, input}});
  check_values("swish", input, values[0], naive);
  check_values("its gradient", input, values[1], naive_gradient);

  const std::string text = graph.graph().text();
  std::printf("%s", text.c_str());
  const mt::Graph parsed = mt::parse_graph(text);
  MARTELLO_CHECK(parsed.text() == text, "[custom_op] the graph does not read back to itself:\n", parsed.text());
  const mt::HostTensor again = mt::Session(parsed).eval("y", {{"x", input}});
  MARTELLO_CHECK(again.same_bits(values[0]), "[custom_op] the parsed graph computes something else.");

  // Against finite differences in f64.
  mt::testing::check_gradients([](mt::TensorList in) { return mt::TensorList{swish(in[0], {.beta = kBeta})}; },
                               {make_input()});
}

}  // namespace

int main() {
  try {
    run();
    return 0;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}
