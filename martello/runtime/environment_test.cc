#include <martello/base/internal/test_text.h>
#include <martello/base/threads.h>
#include <martello/kernel/cpu/onednn.h>
#include <martello/runtime/environment.h>

#include <errno.h>

namespace martello {
namespace {

TEST(environment, tells_versions_devices_threads_batch_and_command) {
  const std::string text = environment_report(
      {.devices = {"cpu:0", "cpu:1"}, .threads = 3, .global_batch = 256, .samples_per_epoch = 60000});
  EXPECT_TRUE(text.starts_with("Environment\n  Martello: 0."));
  for (const char* part : {"oneDNN", "instruction set x86-64-v", "Devices: cpu:0, cpu:1\n", "Threads: 3 of ",
                           "Global batch: 256\n", "Samples per epoch: 60000\n", "Command: "})
    EXPECT_CONTAINS(text, part);
  EXPECT_CONTAINS(text, program_invocation_short_name);
  EXPECT_CONTAINS(text, str(" with ", onednn::instruction_set(), "\n"));
}

TEST(environment, what_is_not_known_is_left_out) {
  const std::string text = environment_report();
  EXPECT_EQ(text.find("Global batch"), std::string::npos);
  EXPECT_CONTAINS(text, str("Threads: ", default_threads(), " of "));
}

}  // namespace
}  // namespace martello
