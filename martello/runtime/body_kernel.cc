#include <martello/runtime/internal/body_kernel.h>

#include <martello/base/error.h>
#include <martello/graph/core_ops.h>
#include <martello/runtime/internal/bound_program.h>

#include <cstring>

namespace martello {
namespace {

void check_inputs(const Subgraph& body, std::span<const TensorSpec> in) {
  MARTELLO_ASSERT(body.inputs().size() == in.size(), "a body of ", body.inputs().size(), " inputs was planned with ",
                  in.size());
}

// Runs a bound body with the addresses of this call.
class BodyRun {
 public:
  BodyRun(std::shared_ptr<const Program> program, std::byte* arena)
      : bound_(std::make_unique<BoundProgram>(std::move(program), std::vector<std::byte*>{arena})) {}

  void operator()(const KernelRun& run) const {
    const Program& program = bound_->program();
    for (size_t i = 0; i < program.feeds.size(); ++i) bound_->set_feed(i, run.in_[i].data);
    bound_->start(run.params->stream, run.params->first_sample);
    for (size_t s = 0; s < program.segments.size(); ++s) bound_->run_segment(s, 0, nullptr);
    if (bound_->is_bad()) run.params->is_bad = 1;
    bound_->update_fetch_rows();
    for (size_t i = 0; i < program.fetches.size(); ++i) copy_out(run.out_[i], i);
  }

 private:
  void copy_out(RunTensor& out, size_t i) const {
    const RunTensor& from = bound_->fetch(i);
    const auto bytes = static_cast<size_t>(from.count * size_of(bound_->program().fetches[i].spec.dtype));
    if (bytes > 0) std::memcpy(out.data, from.data, bytes);
    out.rows = from.rows;
  }

  std::shared_ptr<BoundProgram> bound_;
};

}  // namespace

std::shared_ptr<const Program> compile_body(const Subgraph& body, std::span<const TensorSpec> in,
                                            const ProgramOptions& options) {
  check_inputs(body, in);
  std::vector<Shape> shapes;
  for (const TensorSpec& spec : in) shapes.push_back(spec.shape);
  PlanGraph plan = extract(body.graph(), body.outputs().vector(), {}, body.inputs().vector(), shapes);
  const auto program = compile(std::move(plan), options, nullptr);
  MARTELLO_CHECK(program->devices.size() == 1, "[subgraph] nodes of a body run on ", program->devices.size(),
                 " devices. Place the whole body on one.");
  return program;
}

Kernel BodyPlanner::plan(const Subgraph& body, std::span<const TensorSpec> in, int threads) {
  ProgramOptions options = options_;
  options.threads = threads;
  const auto program = compile_body(body, in, options);
  return Kernel::with_bind([program](const KernelRun& run) -> BoundKernel { return BodyRun(program, run.scratch); })
      .scratch(program->arena_bytes[0])
      .implementation(str("body of ", program->report.nodes, " nodes"));
}

}  // namespace martello
