#include <martello/runtime/environment.h>

#include <martello/base/logger_dir.h>
#include <martello/base/strings.h>
#include <martello/base/threads.h>
#include <martello/kernel/cpu/isa.h>
#include <martello/kernel/cpu/onednn.h>

#include <unistd.h>

#include <fstream>

namespace martello {
namespace {

std::string processor() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const size_t colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos) return line.substr(colon + 2);
  }
  return "unknown processor";
}

std::string memory() {
  const auto bytes = static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE));
  return str(static_cast<int64_t>(bytes / (1 << 30)), " GiB");
}

std::string compiler() {
#ifdef __clang__
  return str("Clang ", __clang_version__);
#else
  return str("GCC ", __VERSION__);
#endif
}

std::string known(int64_t number) { return number == 0 ? "" : str(number); }

}  // namespace

std::string environment_report(const EnvironmentOptions& options) {
  const int threads = options.threads > 0 ? options.threads : default_threads();
  const std::pair<const char*, std::string> lines[] = {
      {"Martello",
       str(MARTELLO_VERSION, ", ", compiler(), ", ", onednn::version(), " with ", onednn::instruction_set())},
      {"Processor", str(processor(), ", instruction set x86-64-", cpu::host_isa(), ", ", memory())},
      {"Devices", join(options.devices)},
      {"Threads", str(threads, " of ", sysconf(_SC_NPROCESSORS_ONLN), " processors")},
      {"Global batch", known(options.global_batch)},
      {"Samples per epoch", known(options.samples_per_epoch)},
      {"Command", logger::command_line()}};
  std::string report = "Environment";
  for (const auto& [key, value] : lines)
    if (!value.empty()) report += str("\n  ", key, ": ", value);
  return report;
}

}  // namespace martello
