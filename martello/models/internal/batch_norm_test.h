#pragma once
#include <martello/graph/collections.h>
#include <martello/models/internal/naive_batch_norm.h>
#include <martello/runtime/session.h>

#include <gtest/gtest.h>

// What the tests of batch norm share.
namespace martello::internal {

// A layer "bn" in the current graph.
inline void expect_normalized(const HostTensor& y, const HostTensor& x, const Stats& s, double epsilon) {
  const auto channels = static_cast<int64_t>(s.mean.size());
  for (int64_t i = 0; i < x.num_elements(); ++i)
    ASSERT_NEAR(y.at(i), normalized(x.at(i), s, static_cast<size_t>(i % channels), epsilon), 1e-9) << i;
}

inline void expect_averages(Session& session, const Stats& batch, double momentum, double unbias = 1) {
  for (size_t c = 0; c < batch.mean.size(); ++c) {
    EXPECT_NEAR(session.get("bn/mean/EMA").at(static_cast<int64_t>(c)), (1 - momentum) * batch.mean[c], 1e-12);
    EXPECT_NEAR(session.get("bn/variance/EMA").at(static_cast<int64_t>(c)),
                momentum + (1 - momentum) * batch.variance[c] * unbias, 1e-12);
  }
}

inline std::vector<Operation> updates() { return Graph::current().collections().get(kUpdateOps); }

inline void run_updates(Session& s) {
  std::vector<Fetch> fetches;
  for (const Operation& u : updates()) fetches.push_back(u);
  s.run(fetches);
}

}  // namespace martello::internal
