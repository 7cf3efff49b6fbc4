#include <martello/graph/core_ops.h>
#include <martello/graph/scopes.h>
#include <martello/graph/subgraph.h>
#include <martello/testing/op_coverage.h>

#include <gtest/gtest.h>

#include <map>
#include <set>

// Rows of the graph's own ops, and the test that every op has some.
namespace martello::testing {
namespace {

struct CallBodyAttrs {
  Subgraph body;
  bool operator==(const CallBodyAttrs&) const = default;
  static void fields(auto& self, auto&& f) { f("body", self.body); }
};

// The least op with a body, so that `arg` has a row.
constinit const OpDef op_call_body = {
    .name = "call_body",
    .doc = "the outputs of a body",
    .inputs = {"x..."},
    .outputs = {"y..."},
    .attrs = &attrs_type<CallBodyAttrs>,
    .shape =
        [](const ShapeContext& c) {
          std::vector<TensorSpec> specs;
          for (const Tensor& y : c.attrs<CallBodyAttrs>().body.outputs())
            specs.push_back(c.in[0]), specs.back().dtype = y.dtype();
          return specs;
        },
    .gradient = not_differentiable,
    .cpu =
        [](const KernelPlan& plan) {
          return plan.subgraphs->plan(plan.attrs<CallBodyAttrs>().body, plan.in, plan.threads);
        },
    .family = "Tests",
};

TensorList call_negated(TensorList x) {
  const auto built =
      build_subgraph({{x[0].shape(), x[0].dtype(), "a"}}, [](TensorList in) { return TensorList(0 - in[0]); });
  return add_op(op_call_body, {x[0]}, CallBodyAttrs{built.body}, "call_body");
}

HostTensors negated(const HostTensors& in) {
  return {map_elements(
      in, [](const std::vector<double>& v) { return -v[0]; }, in[0].dtype())};
}

HostTensors same(const HostTensors& in) { return in; }

OP_TEST(
    call_body,
    {.label = "negates", .inputs = {randn({3, 5})}, .build = call_negated, .reference = negated, .gradient = false});
OP_TEST(
    arg,
    {.label = "of a body", .inputs = {randn({3, 5})}, .build = call_negated, .reference = negated, .gradient = false});
OP_TEST(placeholder,
        {.label = "is its feed", .inputs = {randn({3, 5})}, .build = [](TensorList x) { return x; }, .reference = same},
        {.label = "scalar", .inputs = {randn({})}, .build = [](TensorList x) { return x; }, .reference = same},
        {.label = "nothing", .inputs = {randn({0, 4})}, .build = [](TensorList x) { return x; }, .reference = same});
OP_TEST(constant, {.label = "is its value",
                   .build =
                       [](TensorList) {
                         return TensorList(constant(iota({2, 3}, i64)));
                       },
                   .reference =
                       [](const HostTensors&) {
                         return HostTensors{iota({2, 3}, i64)};
                       }});
OP_TEST(group, {.label = "comes before what waits for it",
                .inputs = {randn({3})},
                .build =
                    [](TensorList x) {
                      ControlDependencies after({group({x[0].op()})});
                      return TensorList(0 - x[0]);
                    },
                .reference = negated});

TEST(coverage, every_op_has_rows_doc_family_and_gradient) {
  const std::vector<std::string> gaps = op_coverage_gaps();
  EXPECT_TRUE(gaps.empty()) << join(gaps, "\n");
}

// Kernels of networks depend on the sizes, formats and attributes in many ways.
TEST(coverage, every_differentiable_op_of_networks_has_many_rows) {
  constexpr size_t kLeastRows = 20;
  const std::set<std::string> families = {"Convolution and pooling", "Images", "Normalization", "Sequences",
                                          "Softmax and losses"};
  const std::set<std::string> others = {"boolean_mask", "dropout", "pad", "scan"};
  const std::map<std::string, size_t> rows = tested_ops();
  for (const OpDef* def : all_ops()) {
    if (!families.contains(def->family) && !others.contains(def->name)) continue;
    if (def->gradient == not_differentiable) continue;
    const auto it = rows.find(def->name);
    EXPECT_GE(it == rows.end() ? 0 : it->second, kLeastRows) << def->name;
  }
}

}  // namespace
}  // namespace martello::testing
