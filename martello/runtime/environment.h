#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace martello {

struct EnvironmentOptions {
  std::vector<std::string> devices = {"cpu:0"};
  int threads = 0;                // of each run; 0: default_threads()
  int64_t global_batch = 0;       // samples per step over all devices; 0: not known, left out
  int64_t samples_per_epoch = 0;  // 0: not known, left out
};

// What a run depends on besides its program, one line each: versions, processor, devices, threads, batch, command line.
// For the head of a log: logger::info(environment_report({...})).
std::string environment_report(const EnvironmentOptions& options = {});

}  // namespace martello
