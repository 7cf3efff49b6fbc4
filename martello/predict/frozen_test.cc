#include <martello/base/append_file.h>
#include <martello/base/internal/test_dir.h>
#include <martello/base/internal/test_text.h>
#include <martello/graph/core_ops.h>
#include <martello/graph/node.h>
#include <martello/ops/batch_norm.h>
#include <martello/ops/cond.h>
#include <martello/ops/control.h>
#include <martello/ops/random.h>
#include <martello/ops/reduce.h>
#include <martello/ops/scan.h>
#include <martello/predict/frozen.h>
#include <martello/predict/internal/frozen_graph.h>
#include <martello/predict/internal/predict_test.h>
#include <martello/predict/offline_predictor.h>

#include <gtest/gtest.h>

#include <fstream>

namespace martello {
namespace {

using testing::error_of;
using testing::line_config;
using testing::random_values;
using testing::resnet_config;
using testing::TestDir;

void expect_near(const HostTensor& a, const HostTensor& b, double tolerance) {
  ASSERT_EQ(a.shape(), b.shape());
  for (int64_t i = 0; i < a.num_elements(); ++i) ASSERT_NEAR(a.at(i), b.at(i), tolerance) << "element " << i;
}

size_t count_norms(const Graph& graph) {
  size_t count = 0;
  for (const Operation& op : graph.operations()) count += op.node()->def == &op_batch_norm_inference;
  return count;
}

TEST(FrozenPredictor, gives_what_the_model_gives) {
  const TestDir dir;
  for (const DataFormat format : {DataFormat::nhwc, DataFormat::nchw}) {
    const OfflinePredictor model(resnet_config(format));
    ModelExporter(model).export_compact(dir.file("net.safetensors"));
    const FrozenPredictor frozen(dir.file("net.safetensors"));
    EXPECT_EQ(frozen.input_names(), std::vector<std::string>{"image"});
    EXPECT_EQ(frozen.output_names(), std::vector<std::string>{"prob"});
    for (const int64_t batch : {1, 5}) {
      const HostTensor images = random_values(
          format == DataFormat::nhwc ? Shape(batch, 8, 8, 3) : Shape(batch, 3, 8, 8), static_cast<unsigned>(batch));
      expect_near(frozen({images})[0], model({images})[0], 2e-6);
    }
    EXPECT_EQ(count_norms(model.session()->graph()), 4u);
    EXPECT_EQ(count_norms(frozen.session()->graph()), 1u) << "only that of no product is left";
  }
}

TEST(FrozenPredictor, has_the_same_bits_when_nothing_is_folded) {
  const TestDir dir;
  const OfflinePredictor model(resnet_config());
  ModelExporter(model).export_compact(dir.file("net.safetensors"), {.fold_batch_norm = false});
  const FrozenPredictor frozen(dir.file("net.safetensors"));
  const HostTensor images = random_values({3, 8, 8, 3}, 1);
  EXPECT_TRUE(frozen({images})[0].same_bits(model({images})[0]));
}

TEST(FrozenPredictor, holds_what_its_outputs_need_and_no_more) {
  const TestDir dir;
  ModelExporter(line_config()).export_compact(dir.file("line.safetensors"));
  const FrozenPredictor frozen(dir.file("line.safetensors"));
  for (const Operation& op : frozen.session()->graph().operations()) EXPECT_NE(op.name(), "distance");
  EXPECT_EQ(frozen({HostTensor::of<float>({2})})[0].at(0), 7);
  const SafetensorsFile file(dir.file("line.safetensors"));
  EXPECT_TRUE(file.entries().empty()) << "two scalars stand in the text";
}

TEST(FrozenPredictor, keeps_an_input_that_no_output_needs) {
  const TestDir dir;
  PredictConfig config = line_config();
  config.input_names = {"label", "x"};
  ModelExporter(std::move(config)).export_compact(dir.file("line.safetensors"));
  const FrozenPredictor frozen(dir.file("line.safetensors"));
  EXPECT_EQ(frozen({HostTensor::of<float>({0}), HostTensor::of<float>({2})})[0].at(0), 7);
}

TEST(FrozenPredictor, draws_random_numbers_anew) {
  const TestDir dir;
  ModelExporter({.tower_func = [](Tensor x) { return add(x, random_uniform({100}), "y"); },
                 .input_signature = {{{100}, f32, "x"}},
                 .output_names = {"y"}})
      .export_compact(dir.file("random.safetensors"));
  const FrozenPredictor frozen(dir.file("random.safetensors"));
  const HostTensor zero({100}, f32);
  const HostTensor first = frozen({zero})[0];
  EXPECT_FALSE(frozen({zero})[0].same_bits(first));
  EXPECT_TRUE(FrozenPredictor(dir.file("random.safetensors"))({zero})[0].same_bits(first));
}

// They act outside the graph only where a body does.
TEST(FrozenPredictor, has_branches_and_loops) {
  const TestDir dir;
  const auto build = [](Tensor x) {
    const Variable w = get_variable("w", {.shape = {}, .initializer = constant_init(3)});
    const Tensor y = cond(
        reduce_sum(x) > 0, [&] { return x * w; }, [&] { return x - w; });
    const auto step = [&](TensorList sum, TensorList row) { return ScanStep{{sum[0] + row[0] * w}, {sum[0]}}; };
    return identity(scan(step, {reduce_sum(y)}, {y}).ys[0], "sums");
  };
  const OfflinePredictor model(
      {.tower_func = build, .input_signature = {{{kUnknown}, f32, "x"}}, .output_names = {"sums"}});
  ModelExporter(model).export_compact(dir.file("net.safetensors"));
  const FrozenPredictor frozen(dir.file("net.safetensors"));
  for (const float x : {2.f, -2.f}) {
    const HostTensor batch = HostTensor::of<float>({x, x / 2});
    EXPECT_TRUE(frozen({batch})[0].same_bits(model({batch})[0])) << x;
  }
}

TEST(ModelExporter, refuses_what_a_file_cannot_do) {
  const TestDir dir;
  const ModelExporter prints({.tower_func = [](Tensor x) { return identity(print(x), "y"); },
                              .input_signature = {{{}, f32, "x"}},
                              .output_names = {"y"}});
  EXPECT_CONTAINS(error_of([&] { prints.export_compact(dir.file("x")); }), "acts outside the graph");
  const GraphScope scope;
  const Tensor x = placeholder({}, f32, "x");
  EXPECT_CONTAINS(error_of<FailedPrecondition>([&] { ModelExporter(OnlinePredictor({x}, {x})).export_compact("y"); }),
                  "has no session yet");
  EXPECT_THROW(ModelExporter(line_config()).export_compact(dir.file("no/such/folder/x")), FileError);
}

TEST(FrozenPredictor, refuses_files_that_are_no_frozen_models) {
  const TestDir dir;
  EXPECT_THROW(FrozenPredictor(dir.file("missing")), NotFound);
  const std::string path = dir.file("other.safetensors");
  const auto refusal = [&](const std::string& graph, const std::vector<NamedTensor>& values) {
    write_safetensors(path, values,
                      graph.empty() ? std::map<std::string, std::string>()
                                    : std::map<std::string, std::string>{{"martello.graph", graph}});
    return error_of<InvalidArgument>([&] { FrozenPredictor p(path); });
  };
  EXPECT_CONTAINS(refusal("", {{"w", HostTensor(1.f)}}), "has no graph: it was not written by ModelExporter");
  EXPECT_CONTAINS(refusal("martello graph 1\n%x = nonsense()\n", {}), "nonsense");
  EXPECT_CONTAINS(refusal("martello graph 1\n%x = placeholder() {shape=[2]}\n", {}), "which of its tensors are inputs");
  const std::string graph =
      "martello graph 1\ncollection outputs = tensors(%w)\ncollection output_names = texts(\"w\")\n"
      "%w = variable() {shape=[20], trainable=false}\n";
  EXPECT_CONTAINS(refusal(graph, {}), "no value for variable 'w'");
  EXPECT_CONTAINS(refusal(graph, {{"w", HostTensor({3}, f32)}}), "is f32[20] but its value is f32[3]");
}

TEST(FrozenPredictor, refuses_a_file_that_was_cut) {
  const TestDir dir;
  ModelExporter(resnet_config()).export_compact(dir.file("net.safetensors"));
  const auto bytes = std::filesystem::file_size(dir.file("net.safetensors"));
  for (const uintmax_t left : {bytes - 1, bytes / 2, uintmax_t{100}, uintmax_t{0}}) {
    std::filesystem::resize_file(dir.file("net.safetensors"), left);
    EXPECT_THROW(FrozenPredictor(dir.file("net.safetensors")), InvalidArgument) << left;
  }
}

}  // namespace
}  // namespace martello
