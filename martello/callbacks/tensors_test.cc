// Callbacks that look at the values of tensors.
#include <martello/base/append_file.h>
#include <martello/base/internal/test_dir.h>
#include <martello/base/internal/test_text.h>
#include <martello/callbacks/dump_tensors.h>
#include <martello/callbacks/process_tensors.h>
#include <martello/graph/core_ops.h>
#include <martello/graph/scopes.h>
#include <martello/loop/internal/fake_training.h>
#include <martello/ops/binary.h>
#include <martello/ops/initializers.h>
#include <martello/ops/variable.h>

#include <png.h>

namespace martello {
namespace {

using testing::error_of;
using testing::FakeTraining;
using testing::Log;
using testing::TestDir;

struct TensorsTest : ::testing::Test {
  GraphScope g;
  Log log;
  TestDir dir;
  Tensor x = placeholder({}, f32, "x");
  Tensor twice = multiply(x, 2, "part/twice");
  TensorsTest() {
    logger::set_logger_dir(dir.path(), logger::OldRun::keep);
    log.lines.clear();
  }
};

TEST_F(TensorsTest, process_gets_values_in_the_order_of_names) {
  std::vector<float> seen;
  FakeTraining t({}, {ProcessTensors({"part/twice", "x"}, [&](const HostTensors& v) {
                   seen.push_back(v[0].scalar<float>());
                   seen.push_back(v[1].scalar<float>());
                 })});
  t.start();
  t.epoch(2, [] {}, {{x, 3.0f}});
  EXPECT_EQ(seen, (std::vector<float>{6, 3, 6, 3}));
}

TEST_F(TensorsTest, process_may_keep_values) {
  HostTensors kept;
  FakeTraining t({}, {ProcessTensors({"x"}, [&](const HostTensors& v) { kept.push_back(v[0]); })});
  t.start();
  for (float value : {1.0f, 2.0f, 3.0f}) t.epoch(1, [] {}, {{x, value}});
  ASSERT_EQ(kept.size(), 3u);
  for (size_t i = 0; i < 3; ++i) EXPECT_EQ(kept[i].scalar<float>(), static_cast<float>(i + 1));
}

TEST_F(TensorsTest, unknown_names_are_refused_with_near_misses) {
  for (const Ref<Callback>& c :
       CallbackList{TensorPrinter({"part/twise"}), DumpTensors({"part/twise"}), DumpTensorAsImage("part/twise"),
                    ProcessTensors({"part/twise"}, [](const HostTensors&) {})})
    EXPECT_CONTAINS(error_of([&] { FakeTraining({}, {c}); }), "Did you mean 'part/twice'?") << c->name();
  EXPECT_CONTAINS(error_of([] { TensorPrinter({}); }), "[TensorPrinter] was given no names");
  EXPECT_CONTAINS(error_of([] { ProcessTensors({"x"}, ProcessTensors::Function()); }), "is empty");
}

TEST_F(TensorsTest, the_printer_logs_every_run_and_warns) {
  FakeTraining t({}, {TensorPrinter({"part/twice"})});
  EXPECT_CONTAINS(log.lines[0], "slow");
  t.start();
  t.epoch(2, [] {}, {{x, 3.0f}});
  EXPECT_EQ(log.lines.size(), 3u);
  EXPECT_CONTAINS(log.lines[1], "part/twice: f32[] 6");
}

TEST_F(TensorsTest, dumps_are_named_by_the_step_that_was_done) {
  FakeTraining t({}, {DumpTensors({"x", "part/twice"})});
  t.start();
  t.epoch(2, [] {}, {{x, 3.0f}});
  EXPECT_EQ(dir.list("DumpTensor-"), (std::vector<std::string>{"DumpTensor-1.npz", "DumpTensor-2.npz"}));
  EXPECT_CONTAINS(dir.read("DumpTensor-1.npz"), "part/twice.npy");
}

TEST_F(TensorsTest, dumps_need_a_directory) {
  logger::close_logger_dir();
  EXPECT_CONTAINS(error_of([] { FakeTraining({}, {DumpTensors({"x"})}); }), "[DumpTensors]");
  EXPECT_CONTAINS(error_of([] { FakeTraining({}, {DumpTensorAsImage("x")}); }), "[DumpTensorAsImage]");
}

// Width, height and bytes of a grey PNG.
struct Picture {
  explicit Picture(const std::string& path) {
    png_image png = {};
    png.version = PNG_IMAGE_VERSION;
    if (!png_image_begin_read_from_file(&png, path.c_str())) return;
    channels = PNG_IMAGE_SAMPLE_CHANNELS(png.format);
    width = png.width, height = png.height;
    pixels.resize(PNG_IMAGE_SIZE(png));
    png_image_finish_read(&png, nullptr, pixels.data(), 0, nullptr);
  }
  unsigned width = 0, height = 0, channels = 0;
  std::vector<uint8_t> pixels;
};

struct Images : Monitor {
  void process_image(std::string_view name, const HostTensor& images) override {
    seen.emplace_back(str(name, " ", images.shape()));
  }
  std::vector<std::string> seen;
};

TEST_F(TensorsTest, an_image_is_scaled_clipped_and_written) {
  constant(HostTensor::of<float>({0, 0.5f, 2, -1, 0.2f, 1}, {2, 3}), "image");
  const auto images = make<Images>();
  FakeTraining t({images}, {DumpTensorAsImage("image")});
  t.start();
  t.epoch(1);
  const Picture p(dir.file("image-ep001.png"));
  EXPECT_EQ(p.width, 3u);
  EXPECT_EQ(p.height, 2u);
  EXPECT_EQ(p.pixels, (std::vector<uint8_t>{0, 128, 255, 0, 51, 255}));
  EXPECT_EQ(images->seen, std::vector<std::string>{"image [1, 2, 3, 1]"});
}

TEST_F(TensorsTest, several_images_are_numbered_from_the_second_on) {
  constant(HostTensor(Shape(3, 4, 5, 3), f32), "conv/filters");
  FakeTraining t({}, {DumpTensorAsImage("conv/filters", {.prefix = "deep/f", .scale = 1})});
  t.start();
  t.epoch(1);
  t.epoch(1);
  for (const char* file : {"deep/f-ep001.png", "deep/f-ep001-1.png", "deep/f-ep001-2.png", "deep/f-ep002.png"}) {
    const Picture p(dir.file(file));
    EXPECT_EQ(p.width * 100 + p.height * 10 + p.channels, 543u) << file;
  }
}

TEST_F(TensorsTest, a_function_makes_images_of_any_tensor) {
  constant(HostTensor(Shape(6), f32), "flat");
  const auto rows = [](const HostTensor& v) { return HostTensors{v.reshaped(Shape(2, 3)), v.reshaped(Shape(3, 2))}; };
  FakeTraining t({}, {DumpTensorAsImage("flat", {.map_func = rows}), DumpTensorAsImage("flat", {.prefix = "bad"})});
  t.start();
  EXPECT_CONTAINS(error_of([&] { t.epoch(1); }), "is [6]");
  EXPECT_EQ(Picture(dir.file("flat-ep001-1.png")).height, 3u);
}

}  // namespace
}  // namespace martello
