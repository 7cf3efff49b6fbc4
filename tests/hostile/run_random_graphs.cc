#include "random_graph.h"

#include <martello/kernel/cpu/onednn.h>

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <memory>

namespace martello::testing {
namespace {

// The bits of a NaN depend on the order of operands, which compilers may choose.
bool same_values(const HostTensor& a, const HostTensor& b) {
  if (a.same_bits(b)) return true;
  if (a.dtype() != b.dtype() || !(a.shape() == b.shape()) || !is_floating(a.dtype())) return false;
  for (int64_t i = 0; i < a.num_elements(); ++i) {
    const double x = a.at(i), y = b.at(i);
    if (!(std::isnan(x) && std::isnan(y)) && (x != y || std::signbit(x) != std::signbit(y))) return false;
  }
  return true;
}

struct Outcome {
  bool is_value = false;
  HostTensors values;  // of two runs, then variables
};

Outcome run(const std::string& what, const RandomGraph& graph, SessionOptions options) {
  Outcome outcome;
  outcome.is_value = ends_well(what, [&] {
    Session session(Graph::current(), std::move(options));
    for (int i = 0; i < 2; ++i)
      for (const HostTensor& value : session.run(graph.fetches(), graph.feeds())) outcome.values.push_back(value);
    for (const Variable& v : graph.variables()) outcome.values.push_back(session.get(v.handle()));
  });
  return outcome;
}

std::string name_of(const RandomGraph& graph, size_t value) {
  const auto& fetches = graph.fetches().list();
  if (value >= 2 * fetches.size()) return graph.variables()[value - 2 * fetches.size()].handle().name();
  const Fetch& fetch = fetches[value % fetches.size()];
  return str(fetch.tensor().is_null() ? "" : fetch.tensor().name(), " of run ", value / fetches.size());
}

void compare(const std::string& what, const RandomGraph& graph, const Outcome& fused, const Outcome& plain) {
  ASSERT_EQ(fused.is_value, plain.is_value) << what << "\nonly one of fused and unfused gave values\n"
                                            << Graph::current().text();
  if (!fused.is_value) return;
  for (size_t i = 0; i < fused.values.size(); ++i)
    ASSERT_TRUE(same_values(fused.values[i], plain.values[i]))
        << what << "\nfused and unfused differ in " << name_of(graph, i) << "\n  " << fused.values[i].str() << "\n  "
        << plain.values[i].str() << "\n"
        << Graph::current().text();
}

int64_t number_from(const char* variable, int64_t otherwise) {
  const char* text = std::getenv(variable);
  return text ? std::atoll(text) : otherwise;
}

}  // namespace

void run_random_graph(uint64_t number, RandomGraphCounts& counts) {
  const std::string what = str("random graph ", number);
  GraphScope scope;
  std::unique_ptr<RandomGraph> graph;
  if (!ends_well("building " + what, [&] { graph = std::make_unique<RandomGraph>(number); })) return;
  ++counts.graphs;
  if (graph->is_large()) return;
  const int threads = number % 8 == 0 ? 2 : 1;
  const Precision precision = number % 8 == 4 && onednn::has_bf16() ? Precision::bf16 : Precision::f32;
  const Outcome fused =
      run("fused, " + what, *graph,
          {.threads = threads, .precision = precision, .always_parallel = true, .poison_arena = true});
  const Outcome plain = run("unfused, " + what, *graph,
                            {.threads = threads,
                             .disabled_passes = {"fuse", "assign_layout"},
                             .precision = precision,
                             .always_parallel = true});
  compare(what, *graph, fused, plain);
  counts.ran += fused.is_value;
  counts.differentiated += fused.is_value && graph->has_gradients();
}

RandomGraphCounts run_random_graphs(int64_t count) {
  logger::set_level(logger::Level::error);
  RandomGraphCounts counts;
  const int64_t first = number_from("MARTELLO_RANDOM_FIRST", 0);
  const int64_t last = first + number_from("MARTELLO_RANDOM_GRAPHS", count);
  for (int64_t number = first; number < last && !::testing::Test::HasFailure(); ++number)
    run_random_graph(static_cast<uint64_t>(number), counts);
  return counts;
}

}  // namespace martello::testing
