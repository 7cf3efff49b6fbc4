#include <martello/base/internal/test_text.h>
#include <martello/codec/crc32c.h>
#include <martello/codec/event_encoder.h>
#include <martello/codec/internal/read_events.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace martello {
namespace {

using testing::read_scalars;
using testing::read_tf_records;
using testing::ReadScalar;
using testing::WireMessage;

WireMessage only_event(const EventEncoder& encoder) {
  const auto records = read_tf_records(encoder.bytes());
  EXPECT_EQ(records.size(), 1u);
  return WireMessage(records.at(0));
}

WireMessage only_value(const EventEncoder& encoder) { return only_event(encoder).message(5).message(1); }

TEST(crc32c, gives_the_known_sums) {
  EXPECT_EQ(crc32c("123456789"), 0xe3069283U);
  EXPECT_EQ(crc32c(""), 0U);
  EXPECT_EQ(crc32c(std::string(32, '\0')), 0x8a9136aaU);
  EXPECT_EQ(crc32c(std::string(32, '\xff')), 0x62a8ab43U);
}

TEST(crc32c, goes_on_behind_a_sum_at_any_length) {
  std::string text(67, '\0');
  std::iota(text.begin(), text.end(), 'a');
  for (size_t cut = 0; cut <= text.size(); ++cut) {
    const std::string_view all = text;
    EXPECT_EQ(crc32c(all.substr(cut), crc32c(all.substr(0, cut))), testing::slow_crc32c(all));
  }
}

TEST(event_encoder, a_file_begins_with_its_version) {
  EventEncoder encoder;
  encoder.set_time(12.5, 0);
  encoder.file_version();
  EXPECT_EQ(only_event(encoder).bytes(3), "brain.Event:2");
  EXPECT_EQ(only_event(encoder).float64(1), 12.5);
}

TEST(event_encoder, scalars_read_back) {
  EventEncoder encoder;
  encoder.set_time(1e9, 469);
  encoder.scalar("loss", 0.25);
  encoder.set_time(1e9, int64_t{1} << 40);
  encoder.scalar("größe/\"x\"", -1e30);
  EXPECT_EQ(read_scalars(encoder.bytes()),
            (std::vector<ReadScalar>{{"loss", 469, 0.25F}, {"größe/\"x\"", int64_t{1} << 40, -1e30F}}));
}

TEST(event_encoder, scalars_that_are_not_finite_read_back) {
  EventEncoder encoder;
  encoder.scalar("a", std::nan(""));
  encoder.scalar("a", 1e300);
  const auto scalars = read_scalars(encoder.bytes());
  EXPECT_TRUE(std::isnan(scalars[0].value));
  EXPECT_EQ(scalars[1].value, std::numeric_limits<float>::infinity());
}

TEST(event_encoder, a_flipped_bit_is_found) {
  EventEncoder encoder;
  encoder.scalar("loss", 0.25);
  for (size_t i = 0; i < encoder.bytes().size(); ++i) {
    std::string broken = encoder.bytes();
    broken[i] = static_cast<char>(broken[i] ^ 4);
    EXPECT_THROW(read_tf_records(broken), InvalidArgument) << i;
  }
}

TEST(event_encoder, long_tags_take_longer_lengths) {
  for (size_t length : {100u, 127u, 128u, 129u, 16383u, 16384u, 100000u}) {
    EventEncoder encoder;
    encoder.scalar(std::string(length, 't'), 1);
    EXPECT_EQ(only_value(encoder).bytes(1), std::string(length, 't'));
  }
}

TEST(event_encoder, a_histogram_counts_every_value) {
  const HostTensor values = HostTensor::of<float>({-1, -1, 0, 2, 1000, std::nanf("")});
  const Histogram h = histogram_of(values);
  EventEncoder encoder;
  encoder.histogram("w", h);
  const WireMessage message = only_value(encoder).message(5);
  EXPECT_EQ(message.float64(1), -1);
  EXPECT_EQ(message.float64(2), 1000);
  EXPECT_EQ(message.float64(3), 5);
  EXPECT_EQ(message.float64(4), 1000);
  EXPECT_EQ(message.float64(5), 1000006);
  const auto limits = message.packed(6), counts = message.packed(7);
  ASSERT_EQ(limits.size(), counts.size());
  EXPECT_TRUE(std::is_sorted(limits.begin(), limits.end()));
  EXPECT_EQ(std::accumulate(counts.begin(), counts.end(), 0.0), 5);
  EXPECT_EQ(h.left_out, 1);
}

TEST(event_encoder, a_value_lies_below_the_limit_of_its_bucket) {
  for (double x : {-1e25, -3.0, -1e-15, 0.0, 1e-13, 1.0, 7e19, 1e25, std::numeric_limits<double>::max()}) {
    const Histogram h = histogram_of(HostTensor(x));
    const auto full = static_cast<size_t>(std::find(h.counts.begin(), h.counts.end(), 1) - h.counts.begin());
    ASSERT_LT(full, h.counts.size());
    EXPECT_TRUE(x < h.limits[full] || full + 1 == h.limits.size()) << x;
    EXPECT_TRUE(full == 0 || x >= h.limits[full - 1]) << x;
  }
}

TEST(event_encoder, an_empty_tensor_has_an_empty_histogram) {
  const Histogram h = histogram_of(HostTensor(Shape(0), f32));
  EXPECT_EQ(h.count, 0);
  EXPECT_EQ(h.counts, std::vector<double>{0});
}

TEST(event_encoder, an_image_knows_its_size) {
  EventEncoder encoder;
  encoder.image("filters", HostTensor(Shape(2, 5, 3), u8));
  const WireMessage image = only_value(encoder).message(4);
  EXPECT_EQ(image.integer(1), 2u);
  EXPECT_EQ(image.integer(2), 5u);
  EXPECT_EQ(image.integer(3), 3u);
  EXPECT_EQ(image.bytes(4).substr(1, 3), "PNG");
}

TEST(event_encoder, text_is_a_tensor_of_the_text_page) {
  EventEncoder encoder;
  encoder.text("note", "**bold**");
  const WireMessage value = only_value(encoder);
  EXPECT_EQ(value.message(9).message(1).bytes(1), "text");
  EXPECT_EQ(value.message(8).integer(1), 7u);
  EXPECT_EQ(value.message(8).bytes(8), "**bold**");
}

TEST(event_encoder, a_graph_has_nodes_inputs_devices_and_shapes) {
  EventEncoder encoder;
  encoder.graph(
      {{.name = "x", .op = "placeholder", .outputs = {{f32, Shape(kUnknown, 3)}}},
       {.name = "y", .op = "relu", .inputs = {"x", "^init"}, .device = "cpu:1", .attrs = {{"slope", "0.1"}}}});
  const WireMessage graph = only_event(encoder).message(4);
  ASSERT_EQ(graph.count(1), 2u);
  const WireMessage x = graph.message(1, 0), y = graph.message(1, 1);
  EXPECT_EQ(x.bytes(1), "x");
  EXPECT_EQ(x.bytes(2), "placeholder");
  EXPECT_EQ(y.bytes(3, 0), "x");
  EXPECT_EQ(y.bytes(3, 1), "^init");
  EXPECT_EQ(y.bytes(4), "cpu:1");
  EXPECT_EQ(y.message(5).bytes(1), "slope");
  EXPECT_EQ(y.message(5).message(2).bytes(2), "0.1");
  const WireMessage shape = x.message(5, 1).message(2).message(1).message(7);
  EXPECT_EQ(static_cast<int64_t>(shape.message(2, 0).integer(1)), -1);
  EXPECT_EQ(shape.message(2, 1).integer(1), 3u);
}

TEST(event_encoder, an_event_of_the_users_keeps_its_bytes) {
  EventEncoder encoder;
  encoder.event({.kind = EventKind::run_metadata, .bytes = "abc", .step = 7, .wall_time = 2});
  EXPECT_EQ(only_event(encoder).bytes(8), "abc");
  EXPECT_EQ(only_event(encoder).integer(2), 7u);
}

}  // namespace
}  // namespace martello
