#include "ops.h"

#include "limits.h"
#include "row.h"
#include "timing.h"

#include <cstdio>

namespace mt = martello;

namespace bench {
namespace {

mt::HostTensors make_inputs(const Row& row) {
  mt::HostTensors inputs;
  for (const mt::TensorSpec& spec : row.inputs) {
    mt::HostTensor t(spec.shape, spec.dtype);
    // Small positive numbers are legal for every op: log, sqrt, indices, conditions.
    if (mt::is_floating(spec.dtype))
      for (int64_t i = 0; i < t.num_elements(); ++i) t.set(i, 0.25 + static_cast<double>(i * 37 % 101) / 128);
    else
      for (int64_t i = 0; i < t.num_elements(); ++i) t.set(i, static_cast<double>(i * 37 % 5 % 2));
    inputs.push_back(std::move(t));
  }
  return inputs;
}

struct Bound {
  mt::Graph graph;
  mt::HostTensors inputs;
  mt::Session session{nullptr};
  mt::PreparedRun run;
};

Bound bind(const Row& row, mt::SessionOptions options) {
  Bound b;
  b.graph = mt::parse_graph(row.graph_text);
  b.inputs = make_inputs(row);
  b.session = mt::Session(b.graph, std::move(options));
  std::vector<mt::Fetch> feeds;
  for (size_t i = 0; i < b.inputs.size(); ++i) feeds.emplace_back(mt::str("x", i));
  b.run = b.session.prepare("y", feeds);
  for (size_t i = 0; i < b.inputs.size(); ++i) b.run.feed(i, b.inputs[i]);
  return b;
}

// The target of the run is the op before `y`, so that no result is copied out.
mt::PreparedRun target_only(Bound& b) {
  std::vector<mt::Fetch> feeds;
  for (size_t i = 0; i < b.inputs.size(); ++i) feeds.emplace_back(mt::str("x", i));
  const auto last = b.graph.get_operation("y");
  auto run = b.session.prepare(mt::Fetch(last), feeds);
  for (size_t i = 0; i < b.inputs.size(); ++i) run.feed(i, b.inputs[i]);
  return run;
}

bool time_row(const Row& row, int threads) {
  Bound b = bind(row, {.threads = threads});
  b.run.run();
  const mt::HostTensor output = b.run.value(0);
  mt::PreparedRun step = target_only(b);
  if (row.limit.empty()) {
    std::printf("%10.4f ms  %s\n", 1e3 * best_of([&] { step.run(); }), row.text.c_str());
    return true;
  }
  const Pair best = best_of_both([&] { step.run(); }, make_limit(row, b.inputs, output, threads));
  const double ratio = best.first / best.second;
  const bool is_ok = row.ratio == 0 || ratio <= row.ratio;
  std::printf("%10.4f ms  %6.2f x %-6s %10.4f ms  %s %s\n", 1e3 * best.first, ratio, row.limit.c_str(),
              1e3 * best.second, is_ok ? "   " : "!! ", row.text.c_str());
  std::fflush(stdout);
  return is_ok;
}

bool check_row(const Row& row) {
  const auto value = [&](mt::SessionOptions options) {
    Bound b = bind(row, std::move(options));
    b.run.run();
    return b.run.value(0);
  };
  const mt::HostTensor expected = value({.threads = 1, .disabled_passes = {"fuse", "simplify"}});
  const bool is_library = row.op == "matmul" || row.op.starts_with("conv2d");  // oneDNN may split sums by threads
  bool is_ok = expected.same_bits(value({.threads = 1}));
  if (!is_library) is_ok = is_ok && expected.same_bits(value({.threads = 4}));
  std::printf("%s  %s\n", is_ok ? "ok  " : "FAIL", row.text.c_str());
  return is_ok;
}

}  // namespace

int time_rows(const std::vector<std::string>& files, const Options& options) {
  const int threads = options.threads > 0 ? options.threads : mt::default_threads();
  int missed = 0;
  for (const std::string& file : files)
    for (const Row& row : read_rows(file)) missed += !time_row(row, threads);
  return missed > 0;
}

int check_rows(const std::vector<std::string>& files) {
  int passed = 0, failed = 0;
  for (const std::string& file : files)
    for (const Row& row : read_rows(file)) (check_row(parse_row(row.text, true)) ? passed : failed) += 1;
  std::printf("%d passed, %d failed\n", passed, failed);
  return failed > 0 || passed == 0;
}

}  // namespace bench
