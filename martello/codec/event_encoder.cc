#include <martello/base/error.h>
#include <martello/codec/crc32c.h>
#include <martello/codec/event_encoder.h>
#include <martello/codec/internal/wire.h>
#include <martello/codec/png.h>

#include <cstring>

// Numbers of fields are those of TensorFlow's event.proto, summary.proto, graph.proto, node_def.proto,
// attr_value.proto, tensor.proto and tensor_shape.proto.
namespace martello {
namespace {

using internal::WireWriter;

constexpr size_t kHeaderBytes = sizeof(uint64_t) + sizeof(uint32_t);

enum class TfType { f32 = 1, f64 = 2, i32 = 3, u8 = 4, string = 7, i64 = 9, boolean = 10, bf16 = 14, f16 = 19 };

TfType tf_type(DType dtype) {
  switch (dtype) {
    case f32: return TfType::f32;
    case f64: return TfType::f64;
    case bf16: return TfType::bf16;
    case f16: return TfType::f16;
    case i32: return TfType::i32;
    case i64: return TfType::i64;
    case u8: return TfType::u8;
    case boolean: return TfType::boolean;
  }
  MARTELLO_ASSERT(false, "[event] dtype ", dtype, " has no number in TensorBoard's schema.");
  return TfType::f32;
}

void write_shape(WireWriter& w, const Shape& shape) {
  for (int i = 0; i < shape.rank(); ++i)
    w.message(2, [&](WireWriter& dim) { dim.integer(1, shape[i] == kUnknown ? -1 : shape[i]); });
}

template <class F>
void write_attr(WireWriter& node, std::string_view key, F&& fill_value) {
  node.message(5, [&](WireWriter& entry) {
    entry.bytes(1, key);
    entry.message(2, fill_value);
  });
}

void write_outputs(WireWriter& node, const std::vector<GraphNode::Output>& outputs) {
  if (outputs.empty()) return;
  write_attr(node, "T", [&](WireWriter& v) { v.integer(6, static_cast<int64_t>(tf_type(outputs[0].dtype))); });
  write_attr(node, "_output_shapes", [&](WireWriter& v) {
    v.message(1, [&](WireWriter& list) {
      for (const GraphNode::Output& o : outputs)
        list.message(7, [&](WireWriter& shape) { write_shape(shape, o.shape); });
    });
  });
}

void write_node(WireWriter& node, const GraphNode& n) {
  node.bytes(1, n.name);
  node.bytes(2, n.op);
  for (const std::string& input : n.inputs) node.bytes(3, input);
  node.bytes(4, n.device);
  for (const auto& attr : n.attrs) write_attr(node, attr.first, [&](WireWriter& v) { v.bytes(2, attr.second); });
  write_outputs(node, n.outputs);
}

// What makes TensorBoard's text page take a string.
void write_text_metadata(WireWriter& value) {
  constexpr int64_t kDataClassTensor = 2;
  value.message(9, [](WireWriter& metadata) {
    metadata.message(1, [](WireWriter& plugin) { plugin.bytes(1, "text"); });
    metadata.integer(4, kDataClassTensor);
  });
}

}  // namespace

void EventEncoder::set_time(double wall_time, int64_t step) {
  wall_time_ = wall_time;
  step_ = step;
}

template <class F>
void EventEncoder::record(double wall_time, int64_t step, F&& fill) {
  const size_t start = out_.size();
  out_.append(kHeaderBytes, '\0');
  WireWriter event(out_);
  event.float64(1, wall_time);
  event.integer(2, step);
  fill(event);
  const std::string_view payload = std::string_view(out_).substr(start + kHeaderBytes);
  const uint64_t length = payload.size();
  const uint32_t payload_crc = masked_crc32c(payload);
  std::memcpy(out_.data() + start, &length, sizeof length);
  const uint32_t length_crc = masked_crc32c(std::string_view(out_).substr(start, sizeof length));
  std::memcpy(out_.data() + start + sizeof length, &length_crc, sizeof length_crc);
  internal::append_raw(out_, payload_crc);
}

template <class F>
void EventEncoder::summary(std::string_view tag, F&& fill) {
  record(wall_time_, step_, [&](WireWriter& event) {
    event.message(static_cast<int>(EventKind::summary), [&](WireWriter& all) {
      all.message(1, [&](WireWriter& value) {
        value.bytes(1, tag);
        fill(value);
      });
    });
  });
}

void EventEncoder::file_version() {
  record(wall_time_, step_,
         [](WireWriter& event) { event.bytes(static_cast<int>(EventKind::file_version), "brain.Event:2"); });
}

void EventEncoder::scalar(std::string_view tag, double value) {
  summary(tag, [&](WireWriter& v) { v.float32(2, static_cast<float>(value)); });
}

void EventEncoder::histogram(std::string_view tag, const Histogram& h) {
  summary(tag, [&](WireWriter& value) {
    value.message(5, [&](WireWriter& w) {
      const double numbers[] = {h.min, h.max, static_cast<double>(h.count), h.sum, h.sum_of_squares};
      for (int i = 0; i < 5; ++i) w.float64(i + 1, numbers[i]);
      w.packed(6, h.limits);
      w.packed(7, h.counts);
    });
  });
}

void EventEncoder::image(std::string_view tag, const HostTensor& hwc) {
  const std::string png = encode_png(hwc);
  summary(tag, [&](WireWriter& value) {
    value.message(4, [&](WireWriter& w) {
      for (int i = 0; i < 3; ++i) w.integer(i + 1, hwc.shape()[i]);
      w.bytes(4, png);
    });
  });
}

void EventEncoder::text(std::string_view tag, std::string_view markdown) {
  summary(tag, [&](WireWriter& value) {
    write_text_metadata(value);
    value.message(8, [&](WireWriter& tensor) {
      tensor.integer(1, static_cast<int64_t>(TfType::string));
      tensor.bytes(2, "");  // the shape of a scalar
      tensor.bytes(8, markdown);
    });
  });
}

void EventEncoder::graph(const std::vector<GraphNode>& nodes) {
  constexpr int64_t kGraphVersion = 22;
  record(wall_time_, step_, [&](WireWriter& event) {
    event.message(static_cast<int>(EventKind::graph), [&](WireWriter& graph) {
      for (const GraphNode& n : nodes) graph.message(1, [&](WireWriter& node) { write_node(node, n); });
      graph.message(4, [&](WireWriter& versions) { versions.integer(1, kGraphVersion); });
    });
  });
}

void EventEncoder::event(const Event& e) {
  record(e.wall_time, e.step, [&](WireWriter& w) { w.bytes(static_cast<int>(e.kind), e.bytes); });
}

}  // namespace martello
