#pragma once
#include <martello/graph/subgraph.h>
#include <martello/runtime/internal/program.h>

namespace martello {

// Plans the bodies of ops with subgraphs: a body is a program of its own whose arena is the kernel's scratch.
class BodyPlanner final : public SubgraphPlanner {
 public:
  explicit BodyPlanner(const ProgramOptions& options) : options_(options) {}
  Kernel plan(const Subgraph& body, std::span<const TensorSpec> in, int threads) override;

 private:
  const ProgramOptions& options_;
};

// The body compiled for inputs of these shapes.
std::shared_ptr<const Program> compile_body(const Subgraph& body, std::span<const TensorSpec> in,
                                            const ProgramOptions& options);

}  // namespace martello
