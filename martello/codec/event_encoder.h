#pragma once
#include <martello/codec/event.h>
#include <martello/codec/histogram.h>
#include <martello/tensor/dtype.h>
#include <martello/tensor/shape.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace martello {

// A node as TensorBoard's graph page shows it.
struct GraphNode {
  std::string name = {};
  std::string op = {};
  std::vector<std::string> inputs = {};  // "conv1", "split:1", and "^init" for what it only runs after
  std::string device = {};
  std::vector<std::pair<std::string, std::string>> attrs = {};  // text
  struct Output {
    DType dtype;
    Shape shape;
  };
  std::vector<Output> outputs = {};
};

// Records of a TensorBoard event file, in TFRecord's frames: length, checksum, event, checksum. bytes() grows by whole
// records; a scalar allocates nothing once it has grown.
class EventEncoder {
 public:
  // Of the events that follow.
  void set_time(double wall_time, int64_t step);

  void file_version();  // the first record of every file
  void scalar(std::string_view tag, double value);
  void histogram(std::string_view tag, const Histogram& histogram);
  void image(std::string_view tag, const HostTensor& hwc);  // u8[H, W, 1 | 3 | 4]
  void text(std::string_view tag, std::string_view markdown);
  void graph(const std::vector<GraphNode>& nodes);
  void event(const Event& event);  // has a time of its own

  const std::string& bytes() const { return out_; }
  void clear() { out_.clear(); }

 private:
  template <class F>
  void record(double wall_time, int64_t step, F&& fill);
  template <class F>
  void summary(std::string_view tag, F&& fill);

  double wall_time_ = 0;
  int64_t step_ = 0;
  std::string out_;
};

}  // namespace martello
