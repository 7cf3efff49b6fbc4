#include <martello/runtime/internal/threads_for.h>

namespace martello {
namespace {

// Per microsecond on one core of the machines we know; only the order of magnitude matters.
constexpr double kFlops = 60e3;
constexpr double kBytes = 12e3;
constexpr double kWorthATeam = 12;         // a node below this stays on one thread
constexpr double kProgramWorthATeam = 60;  // and so does everything when the whole program is below this

double bytes_of(const NodeOutput& out) {
  return out.shape.is_known() ? static_cast<double>(out.shape.num_elements()) * static_cast<double>(size_of(out.dtype))
                              : 0;
}

}  // namespace

double estimated_microseconds(const OpNode& node) {
  if (node.def->cost) {
    std::vector<TensorSpec> in, out;
    for (const Tensor& t : node.inputs) in.push_back({t.shape(), t.dtype(), {}, {}});
    for (const NodeOutput& o : node.outputs) out.push_back(o.spec());
    const Cost cost = node.def->cost(in, out, node.attrs);
    return cost.flops / kFlops + cost.bytes / kBytes;
  }
  double bytes = 0;
  for (const Tensor& t : node.inputs) bytes += bytes_of(output_of(t));
  for (const NodeOutput& o : node.outputs) bytes += bytes_of(o);
  return bytes / kBytes;
}

std::vector<int> choose_threads(const std::vector<OpNode*>& nodes, int most) {
  std::vector<double> times;
  double total = 0;
  for (const OpNode* node : nodes) {
    times.push_back(estimated_microseconds(*node));
    total += times.back();
  }
  std::vector<int> threads;
  for (double t : times) threads.push_back(total >= kProgramWorthATeam && t >= kWorthATeam ? most : 1);
  return threads;
}

}  // namespace martello
