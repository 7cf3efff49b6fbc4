#pragma once
#include <martello/martello.h>

#include <string>
#include <vector>

namespace bench {

// One training step with constant input, as bench/peers defines it.
struct Work {
  std::string name;
  int64_t batch = 0;
  martello::Tensor x, label, loss;
  martello::Operation train;
  martello::HostTensor x_value, label_value;
  int warm = 0, steps = 0;
};

std::vector<std::string> work_names();
// `NAME`, or `NAME@BATCH` for another batch size.
Work build_work(const std::string& name);

// Prints one JSON line per work: median time of a step, and memory in MiB (of the process before it, at most, and what
// the planner says). All works when none is named.
int time_training(const std::vector<std::string>& names, const martello::SessionOptions& options);
// Prints the nodes of a step with their times and implementations, then the share of each op and of oneDNN.
int trace_training(const std::vector<std::string>& names, martello::SessionOptions options);

}  // namespace bench
