// The one bench driver.
//   martello_bench [time] FILE...    rows of .bench files against their limits
//   martello_bench check FILE...     the same rows, small: are the results right?
//   martello_bench overhead          launch and planning
//   martello_bench update            optimizers against a copy of the bytes that they move
//   martello_bench data              data flows: maps, restoring, parallel maps, the pipeline of Fashion-MNIST
//   martello_bench machine           how far two cores are apart, and how fast memory is written
//   martello_bench save [DIR]        a checkpoint of 1 GiB against a plain write
//   martello_bench train [NAME...]   whole training steps; one JSON line each, as the peers print them;
//                                    --precision bf16 for large products in bf16, --kernels measured for kernels
//                                    chosen by timing
//   martello_bench trace [NAME...]   the nodes of those steps, with times and implementations, and the share of oneDNN
#include "ops.h"
#include "train/train.h"

#include <martello/base/error.h>

#include <cstdio>
#include <cstdlib>
#include <exception>

namespace {

constexpr const char* kHelp =
    "usage: martello_bench [--threads N] [--precision f32|bf16] [--kernels fixed|measured] [time|check] FILE.bench ... "
    "| overhead | update | data | machine | save [DIR] | train [tiny mlp ...] | "
    "trace [...]\n";

martello::Precision precision_of(std::string_view text) {
  MARTELLO_CHECK(text == "f32" || text == "bf16", "[bench] --precision is '", text, "', expected f32 or bf16.");
  return text == "bf16" ? martello::Precision::bf16 : martello::Precision::f32;
}

martello::KernelChoice kernels_of(std::string_view text) {
  MARTELLO_CHECK(text == "fixed" || text == "measured", "[bench] --kernels is '", text,
                 "', expected fixed or measured.");
  return text == "measured" ? martello::KernelChoice::measured : martello::KernelChoice::fixed;
}

int run(int argc, char** argv) {
  bench::Options options;
  martello::SessionOptions session;
  std::vector<std::string> words;
  for (int i = 1; i < argc; ++i) {
    if (std::string_view(argv[i]) == "--threads" && i + 1 < argc) options.threads = std::atoi(argv[++i]);
    else if (std::string_view(argv[i]) == "--precision" && i + 1 < argc) session.precision = precision_of(argv[++i]);
    else if (std::string_view(argv[i]) == "--kernels" && i + 1 < argc) session.kernel_choice = kernels_of(argv[++i]);
    else words.emplace_back(argv[i]);
  }
  session.threads = options.threads;
  const std::string job = words.empty() ? "" : words[0];
  const bool is_job = job == "time" || job == "check" || job == "overhead" || job == "update" || job == "data" ||
                      job == "machine" || job == "save" || job == "train" || job == "trace";
  const std::vector<std::string> rest(words.begin() + (is_job ? 1 : 0), words.end());
  if (job == "overhead") return bench::time_overhead(options);
  if (job == "update") return bench::time_updates(options);
  if (job == "data") return bench::time_data(options);
  if (job == "machine") return bench::print_machine(options);
  if (job == "save") return bench::time_saving(rest.empty() ? "." : rest[0]);
  if (job == "train") return bench::time_training(rest, session);
  if (job == "trace") return bench::trace_training(rest, session);
  if (rest.empty()) return std::fputs(kHelp, stderr), 2;
  return job == "check" ? bench::check_rows(rest) : bench::time_rows(rest, options);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}
