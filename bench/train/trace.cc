#include "train.h"

#include <algorithm>
#include <cstdio>
#include <map>

namespace mt = martello;

namespace bench {
namespace {

// The best of many runs of every node.
mt::RunTrace best_trace(mt::Session& session, const Work& w, const mt::Feeds& feeds) {
  mt::RunTrace best;
  for (int i = 0; i < std::clamp(w.steps, 3, 200); ++i) {
    mt::RunTrace trace;
    session.run_traced(w.train, feeds, trace);
    if (best.events.empty()) best = trace;
    for (size_t e = 0; e < trace.events.size(); ++e)
      if (trace.events[e].duration_us < best.events[e].duration_us) best.events[e] = trace.events[e];
  }
  return best;
}

struct Share {
  int calls = 0;
  double us = 0, onednn_us = 0;
  void add(const mt::TraceEvent& e) {
    ++calls;
    us += e.duration_us;
    onednn_us += e.library_us;
  }
};

// Convolutions and matrix products, by whichever kernels.
bool is_product(const std::string& op) {
  return op.starts_with("conv2d") || op.starts_with("depthwise") || op == "matmul" || op == "linear";
}

double percent(double part, double whole) { return whole > 0 ? 100 * part / whole : 0; }

// Per op: where the time goes, and how much of it inside the library.
void print_summary(const std::string& name, const std::map<std::string, Share>& shares, const Share& all) {
  std::vector<std::pair<std::string, Share>> sorted(shares.begin(), shares.end());
  std::stable_sort(sorted.begin(), sorted.end(), [](auto& a, auto& b) { return a.second.us > b.second.us; });
  std::printf("\n%-36s %6s %12s %8s %14s\n", "op", "calls", "us", "share", "inside oneDNN");
  double product_us = 0;
  for (const auto& [op, s] : sorted) {
    if (is_product(op)) product_us += s.us;
    std::printf("%-36s %6d %12.1f %7.1f%% %13.1f%%\n", op.c_str(), s.calls, s.us, percent(s.us, all.us),
                percent(s.onednn_us, s.us));
  }
  std::printf("%s: %d nodes, %.2f ms, %.1f %% of it in convolutions and products, %.1f %% inside oneDNN\n\n",
              name.c_str(), all.calls, all.us / 1e3, percent(product_us, all.us), percent(all.onednn_us, all.us));
}

void trace_work(const std::string& name, const mt::SessionOptions& options) {
  mt::GraphScope g;
  const Work w = build_work(name);
  mt::Session session(g.graph(), options);
  const mt::Feeds feeds = {{w.x, w.x_value}, {w.label, w.label_value}};
  const mt::RunTrace best = best_trace(session, w, feeds);
  const auto report = session.plan_report(w.train, feeds);
  MARTELLO_ASSERT(report.implementations.size() == best.events.size(), "[trace] ", best.events.size(), " events of ",
                  report.implementations.size(), " nodes.");
  std::map<std::string, Share> shares;
  Share all;
  for (size_t i = 0; i < best.events.size(); ++i) {
    const mt::TraceEvent& e = best.events[i];
    std::printf("%9.2f us  %-32s %s\n", e.duration_us, e.op.c_str(), report.implementations[i].c_str());
    shares[e.op].add(e);
    all.add(e);
  }
  print_summary(name, shares, all);
}

}  // namespace

int trace_training(const std::vector<std::string>& names, mt::SessionOptions options) {
  if (options.threads <= 0) options.threads = mt::default_threads();
  for (const std::string& name : names.empty() ? work_names() : names) trace_work(name, options);
  return 0;
}

}  // namespace bench
