#include "memory.h"

#include <martello/base/error.h>

#include <malloc.h>

#include <fstream>
#include <string>

namespace bench {
namespace {

double status_mb(const std::string& key) {
  std::ifstream file("/proc/self/status");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with(key + ":")) return std::stod(line.substr(key.size() + 1)) / 1024;
  throw martello::NotFound(martello::str("[bench] /proc/self/status has no line ", key, "."));
}

}  // namespace

double resident_mb() { return status_mb("VmRSS"); }
double peak_mb() { return status_mb("VmHWM"); }

void reset_peak() {
  malloc_trim(0);
  std::ofstream file("/proc/self/clear_refs");
  file << "5" << std::flush;
  MARTELLO_CHECK(file, "[bench] the peak of the memory cannot be reset: /proc/self/clear_refs takes no '5'.");
}

}  // namespace bench
