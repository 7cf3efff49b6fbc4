#include <martello/runtime/internal/non_finite_watch.h>

#include <martello/base/strings.h>
#include <martello/graph/node.h>

#include <cmath>

namespace martello {
namespace {

struct BadElements {
  int64_t nans = 0, infinities = 0;
  bool any() const { return nans + infinities > 0; }
};

template <class T>
BadElements count_bad(const RunTensor& t) {
  BadElements bad;
  const T* x = static_cast<const T*>(t.data);
  for (int64_t i = 0; i < t.count; ++i) {
    bad.nans += std::isnan(x[i]);
    bad.infinities += std::isinf(x[i]);
  }
  return bad;
}

BadElements count_bad(const RunTensor& t, DType dtype) {
  if (dtype == f32) return count_bad<float>(t);
  return dtype == f64 ? count_bad<double>(t) : BadElements{};
}

}  // namespace

// What was bad before the step came from a feed, a variable or a constant: steps before it were looked at.
std::string NonFiniteWatch::describe(const ProgramStep& step, const KernelRun& run, size_t output,
                                     const char* what) const {
  const OpNode& node = *program_.graph.get_operation(step.node).node();
  std::string text =
      str(what, " in '", step.node, "' (", step.op, ") ", node.outputs[output].dtype, node.outputs[output].shape);
  for (size_t i = 0; i < node.inputs.size(); ++i)
    if (count_bad(run.in_[i], node.inputs[i].dtype()).any())
      text += str("; its input '", node.inputs[i].name(), "' is not finite");
  return step.line.known() ? str(text, "\n    at ", step.line.str()) : text;
}

void NonFiniteWatch::look(const ProgramStep& step, const KernelRun& run) {
  const OpNode& node = *program_.graph.get_operation(step.node).node();
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    const BadElements bad = count_bad(run.out_[i], node.outputs[i].dtype);
    if (!bad.any()) continue;
    std::lock_guard lock(mutex_);
    if (bad.nans > 0 && first_nan_.empty()) first_nan_ = describe(step, run, i, "the first NaN is");
    if (bad.infinities > 0 && first_infinity_.empty())
      first_infinity_ = describe(step, run, i, "the first infinity is");
  }
}

std::string NonFiniteWatch::report() const {
  std::string text;
  for (const std::string* first : {&first_infinity_, &first_nan_})
    if (!first->empty()) text += "\n  " + *first;
  return text.empty() ? "\n  a second run of its computation gave none: the value came from a host function" : text;
}

}  // namespace martello
