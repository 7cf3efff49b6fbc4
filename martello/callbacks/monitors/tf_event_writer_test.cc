#include <martello/base/internal/test_dir.h>
#include <martello/base/internal/test_text.h>
#include <martello/base/state.h>
#include <martello/callbacks/monitors/writers.h>
#include <martello/codec/internal/read_events.h>
#include <martello/graph/core_ops.h>
#include <martello/graph/scopes.h>
#include <martello/loop/internal/fake_training.h>
#include <martello/ops/identity.h>
#include <martello/ops/top_k.h>

#include <chrono>
#include <cmath>
#include <thread>

namespace martello {
namespace {

using testing::FakeTraining;
using testing::Log;
using testing::read_scalars;
using testing::read_tf_records;
using testing::ReadScalar;
using testing::TestDir;
using testing::WireMessage;

struct TfEventWriterTest : ::testing::Test {
  TestDir dir;
  std::vector<std::string> files() const { return dir.list("events.out.tfevents."); }
  std::vector<WireMessage> events() const {
    std::vector<WireMessage> list;
    for (const std::string& file : files())
      for (const std::string& record : read_tf_records(dir.read(file))) list.emplace_back(record);
    return list;
  }
};

TEST_F(TfEventWriterTest, scalars_have_the_steps_in_which_they_were_put) {
  FakeTraining t({TFEventWriter({.dir = dir.path()})});
  t.monitors().put_scalar("lr", 0.5);
  t.start();
  t.epoch(2, [&] { t.monitors().put_scalar("loss", 10.0 * double(t.loop().global_step)); });
  t.monitors().put_scalar("speed", 7, ScalarClass::volatile_);
  t.finish();
  ASSERT_EQ(files().size(), 1u);
  EXPECT_EQ(read_scalars(dir.read(files()[0])),
            (std::vector<ReadScalar>{{"lr", 0, 0.5F}, {"loss", 1, 10}, {"loss", 2, 20}, {"speed", 2, 7}}));
  EXPECT_EQ(events()[0].bytes(3), "brain.Event:2");
}

TEST_F(TfEventWriterTest, training_that_was_refused_at_its_start_leaves_no_file) {
  {
    const FakeTraining t({TFEventWriter({.dir = dir.path()})});
    EXPECT_EQ(files().size(), 1u);
  }
  EXPECT_TRUE(files().empty());
}

TEST_F(TfEventWriterTest, an_epoch_is_on_the_disk_when_it_has_ended) {
  FakeTraining t({TFEventWriter({.dir = dir.path()})});
  t.start();
  t.epoch(1, [&] { t.monitors().put_scalar("loss", 1); });
  EXPECT_EQ(read_scalars(dir.read(files()[0])).size(), 1u);
}

TEST_F(TfEventWriterTest, a_long_epoch_is_written_in_between) {
  FakeTraining t({TFEventWriter({.dir = dir.path(), .flush_seconds = 0})});
  t.start();
  size_t seen = 0;
  t.epoch(3, [&] {
    seen = read_scalars(dir.read(files()[0])).size();
    t.monitors().put_scalar("loss", 1);
  });
  EXPECT_EQ(seen, 2u);
}

TEST_F(TfEventWriterTest, histograms_images_texts_and_events) {
  Log log;
  FakeTraining t({TFEventWriter({.dir = dir.path()})});
  t.start();
  t.monitors().put_histogram("w", HostTensor::of<float>({1, 2, std::nanf("")}));
  t.monitors().put_image("filters", HostTensor(Shape(2, 4, 5, 1), u8));
  t.monitors().put_text("note", "hello");
  t.monitors().put_event({.kind = EventKind::run_metadata, .bytes = "abc"});
  t.monitors().flush();
  const auto all = events();
  ASSERT_EQ(all.size(), 7u);
  EXPECT_EQ(all[2].message(5).message(1).message(5).float64(3), 2);
  EXPECT_EQ(all[3].message(5).message(1).bytes(1), "filters/0");
  EXPECT_EQ(all[4].message(5).message(1).bytes(1), "filters/1");
  EXPECT_EQ(all[4].message(5).message(1).message(4).integer(2), 5u);
  EXPECT_EQ(all[5].message(5).message(1).message(8).bytes(8), "hello");
  EXPECT_EQ(all[6].bytes(8), "abc");
  EXPECT_CONTAINS(log.lines.at(0), "histogram 'w' leaves out 1 of 3 values that are not finite");
}

TEST_F(TfEventWriterTest, the_graph_has_every_node) {
  GraphScope g;
  {
    const DeviceScope device("cpu:1");
    const Tensor indices = top_k(placeholder({kUnknown, 4}, f32, "x"), 2).indices;
    const ControlDependencies after({constant(HostTensor(Shape(100), f32), "big").op()});
    identity(indices, "y");
  }
  FakeTraining t({TFEventWriter({.dir = dir.path()})});
  t.start();
  const WireMessage graph = events().at(1).message(4);
  ASSERT_EQ(graph.count(1), g.graph().size());
  const WireMessage y = graph.message(1, graph.count(1) - 1);
  EXPECT_EQ(y.bytes(1), "y");
  EXPECT_EQ(y.bytes(2), "identity");
  EXPECT_EQ(y.bytes(3, 0), "top_k:1");
  EXPECT_EQ(y.bytes(3, 1), "^big");
  EXPECT_EQ(y.bytes(4), "cpu:1");
}

TEST_F(TfEventWriterTest, a_file_per_epoch) {
  FakeTraining t({TFEventWriter({.dir = dir.path(), .split_files = true})});
  t.start();
  for (int i = 0; i < 2; ++i) t.epoch(1, [&] { t.monitors().put_scalar("loss", 1); });
  t.finish();
  ASSERT_EQ(files().size(), 3u);
  for (int i = 0; i < 2; ++i) EXPECT_EQ(read_scalars(dir.read(files()[size_t(i)])).size(), 1u);
  for (const std::string& file : files())
    EXPECT_EQ(WireMessage(read_tf_records(dir.read(file)).at(0)).bytes(3), "brain.Event:2");
}

TEST_F(TfEventWriterTest, files_of_epochs_after_the_checkpoint_go_when_a_run_is_resumed) {
  const auto make_writer = [&] {
    return make<TFEventWriter>(TFEventWriterOptions{.dir = dir.path(), .split_files = true});
  };
  std::string saved;
  {
    const auto writer = make_writer();
    FakeTraining killed({writer});
    killed.start();
    for (int epoch = 1; epoch <= 3; ++epoch) {
      killed.epoch(1, [&] { killed.monitors().put_scalar("loss", epoch); });
      if (epoch == 1) saved = save_state(*writer);
    }
  }
  ASSERT_EQ(files().size(), 4u);
  dir.write("events.out.tfevents.0000000001.other.7.00009", "of another run");
  std::this_thread::sleep_for(std::chrono::milliseconds(1100));  // names of runs have their second
  const auto writer = make_writer();
  FakeTraining resumed({writer});
  restore_state(*writer, saved);
  resumed.start();
  restore_state(*writer, saved);
  resumed.epoch(1, [&] { resumed.monitors().put_scalar("loss", 20); });
  resumed.finish();
  ASSERT_EQ(files().size(), 4u);
  EXPECT_EQ(dir.read(files()[0]), "of another run");
  EXPECT_EQ(read_scalars(dir.read(files()[1])).at(0).value, 1);
  EXPECT_EQ(read_scalars(dir.read(files()[2])).at(0).value, 20);
  EXPECT_TRUE(read_scalars(dir.read(files()[3])).empty());
}

}  // namespace
}  // namespace martello
