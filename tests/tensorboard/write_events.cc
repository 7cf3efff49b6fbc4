// write_events DIR: a run of two epochs whose event file TensorBoard reads back in read_events.py.
#include <martello/callbacks/monitors/writers.h>
#include <martello/graph/core_ops.h>
#include <martello/graph/scopes.h>
#include <martello/loop/internal/fake_training.h>
#include <martello/ops/activation.h>

#include <cmath>
#include <cstdio>
#include <limits>

using namespace martello;

namespace {

HostTensor ramp(Shape shape, DType dtype) {
  HostTensor t(shape, dtype);
  for (int64_t i = 0; i < t.num_elements(); ++i) t.set(i, static_cast<double>(i));
  return t;
}

void write(const std::string& dir) {
  const GraphScope g;
  relu(placeholder({kUnknown, 3}, f32, "input"), "layer/output");
  martello::testing::FakeTraining t({TFEventWriter({.dir = dir})});
  Monitors& m = t.monitors();
  t.start();
  for (int epoch = 1; epoch <= 2; ++epoch) {
    t.epoch(3, [&] { m.put_scalar("größe/\"loss\"", 1.0 / double(t.loop().global_step)); });
    m.put_scalar("speed (steps/sec)", 1e6 * epoch, ScalarClass::volatile_);
  }
  m.put_scalar("bad", std::nan(""));
  m.put_scalar("large", std::numeric_limits<double>::infinity());
  m.put_histogram("weights", ramp(Shape(100), f32));
  m.put_image("picture", ramp(Shape(4, 6, 3), u8));
  m.put_text("note", "**bold** text");
  t.finish();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return std::fputs("usage: write_events DIR\n", stderr), 2;
  write(argv[1]);
  return 0;
}
