#pragma once
#include <martello/runtime/session.h>

#include <gtest/gtest.h>

// Short trainings in a Session, to compare what options of it change.
namespace martello::testing {

struct Training {
  Graph graph;
  Tensor loss;
  Operation train;
  Feeds feeds;
  std::vector<std::string> weights;  // names
};

struct Trained {
  std::vector<double> losses;
  HostTensors weights;
};

inline Trained train(const Training& t, SessionOptions options, int steps) {
  Session s(t.graph, std::move(options));
  Trained result;
  for (int i = 0; i < steps; ++i) result.losses.push_back(s.run({t.loss, t.train}, t.feeds)[0].at(0));
  for (const std::string& name : t.weights) result.weights.push_back(s.get(name));
  return result;
}

inline void expect_same(const Trained& a, const Trained& b) {
  EXPECT_EQ(a.losses, b.losses);
  for (size_t i = 0; i < a.weights.size(); ++i) EXPECT_TRUE(a.weights[i].same_bits(b.weights[i])) << "weight " << i;
}

// The same bits from run to run, and without each of these passes.
inline void expect_steady_bits(const Training& t, Precision precision, const std::vector<std::string>& passes,
                               int steps) {
  for (const int threads : {1, 2}) {
    const Trained first = train(t, {.threads = threads, .precision = precision}, steps);
    expect_same(first, train(t, {.threads = threads, .precision = precision}, steps));
    for (const std::string& pass : passes)
      expect_same(first, train(t, {.threads = threads, .disabled_passes = {pass}, .precision = precision}, steps));
  }
}

}  // namespace martello::testing
