#pragma once
#include <martello/data/dataflow.h>

#include <string>

namespace martello::data {

struct TrainTest {
  DataFlowRef train, test;
};
// 60,000 and 10,000 datapoints (image f32[28, 28, 1] in [0, 1], label i32) from the IDX files that Debian's package
// dataset-fashion-mnist installs, or from those in `folder`.
TrainTest fashion_mnist(const std::string& folder = "/usr/share/datasets/fashion-mnist");
// "T-shirt/top" ... "Ankle boot"
const std::vector<std::string>& fashion_mnist_labels();

}  // namespace martello::data
