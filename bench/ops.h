#pragma once
#include <string>
#include <vector>

namespace bench {

struct Options {
  int threads = 0;   // 0: as many as the library would take
  std::string json;  // write results here too
};

// Rows against what they are compared with; 1 when a ratio is missed.
int time_rows(const std::vector<std::string>& files, const Options& options);
// Every row, with small shapes: fused equals unfused, any number of threads gives the same bits for our kernels.
int check_rows(const std::vector<std::string>& files);
// Launch overhead per node, and time to plan.
int time_overhead(const Options& options);
// Every optimizer on 25 million parameters, against a copy of the bytes that it has to move; 1 when one takes longer
// than 1.3 times that.
int time_updates(const Options& options);
// Flows: maps, restoring, parallel maps, the pipeline of Fashion-MNIST; 1 when a bar is missed.
int time_data(const Options& options);
// How far two cores are apart and how fast all of them write to memory. Virtual cores may be moved, and with them what
// there is to reach: see docs/benchmarks.md.
int print_machine(const Options& options);
// A checkpoint of 1 GiB in `dir` against a plain write.
int time_saving(const std::string& dir);

}  // namespace bench
