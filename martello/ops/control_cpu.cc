#include <martello/base/error.h>
#include <martello/base/log.h>
#include <martello/ops/control.h>

#include <atomic>
#include <cstring>

namespace martello {
namespace {

Shape run_shape(const TensorSpec& spec, const RunTensor& t) {
  return spec.shape.rank() > 0 ? spec.shape.with(0, t.rows) : spec.shape;
}

HostTensor host_copy(const TensorSpec& spec, const RunTensor& t) {
  HostTensor copy(run_shape(spec, t), spec.dtype);
  if (t.count > 0) std::memcpy(copy.mutable_raw(), t.data, static_cast<size_t>(copy.num_bytes()));
  return copy;
}

// "f32[2, 2] 1 2 3 ..."
std::string text_of(const TensorSpec& spec, const RunTensor& t, int64_t most) {
  std::string text = str(spec.dtype, run_shape(spec, t));
  const int64_t shown = most < 0 ? t.count : std::min(most, t.count);
  visit_dtype(spec.dtype, [&](auto zero) {
    using T = decltype(zero);
    const T* x = static_cast<const T*>(t.data);
    for (int64_t i = 0; i < shown; ++i) {
      if constexpr (std::is_same_v<T, uint8_t>) text += str(" ", static_cast<int>(x[i]));
      else if constexpr (std::is_integral_v<T>) text += str(" ", x[i]);
      else text += str(" ", static_cast<std::conditional_t<std::is_same_v<T, double>, double, float>>(x[i]));
    }
  });
  return shown < t.count ? text + " ..." : text;
}

std::vector<TensorSpec> copied(std::span<const TensorSpec> specs) { return {specs.begin(), specs.end()}; }

struct HostCall {
  std::string where;
  HostFunction fn;
  std::vector<TensorSpec> in, out;

  void operator()(const KernelRun& run) const {
    HostTensors values;
    for (size_t i = 0; i < in.size(); ++i) values.push_back(host_copy(in[i], run.in_[i]));
    const HostTensors results = call(values);
    MARTELLO_CHECK(results.size() == out.size(), where, "its function returned ", results.size(), " tensors but ",
                   out.size(), " outputs were declared.");
    for (size_t i = 0; i < out.size(); ++i) take(results[i], i, run.out_[i]);
  }

  HostTensors call(const HostTensors& values) const try { return fn.fn()(values); } catch (Error& e) {
    e.add_context(str("in the host function '", fn.name(), "'"));
    throw;
  } catch (const std::exception& e) {
    std::throw_with_nested(Error(str(where, "the host function '", fn.name(), "' threw: ", e.what())));
  }

  void take(const HostTensor& result, size_t i, const RunTensor& to) const {
    MARTELLO_CHECK(result.dtype() == out[i].dtype && result.shape() == out[i].shape, where, "its function returned ",
                   result.dtype(), result.shape(), " as output ", i, " but ", out[i], " was declared.");
    if (result.num_bytes() > 0) std::memcpy(to.data, result.raw(), static_cast<size_t>(result.num_bytes()));
  }
};

}  // namespace

Kernel host_call_cpu(const KernelPlan& plan) {
  return HostCall{plan.op.where(), plan.attrs<HostCallAttrs>().fn, copied(plan.in), copied(plan.out)};
}

Kernel print_cpu(const KernelPlan& plan) {
  const auto& a = plan.attrs<PrintAttrs>();
  const std::string label = a.message.empty() ? std::string(plan.op.name) : a.message;
  const auto written = std::make_shared<std::atomic<int64_t>>(0);
  return [label, spec = plan.in[0], first_n = a.first_n, most = a.summarize, written](const KernelRun& run) {
    const RunTensor &x = run.in_[0], &y = run.out_[0];
    if (x.data != y.data && x.count > 0)
      std::memcpy(y.data, x.data, static_cast<size_t>(x.count * size_of(spec.dtype)));
    const bool is_due = first_n < 0 || written->fetch_add(1, std::memory_order_relaxed) < first_n;
    if (is_due) logger::info(label, ": ", text_of(spec, x, most));
  };
}

Kernel assert_that_cpu(const KernelPlan& plan) {
  constexpr int64_t kShown = 16;
  return [where = plan.op.where(), message = plan.attrs<AssertAttrs>().message,
          in = copied(plan.in)](const KernelRun& run) {
    const auto condition = run.in<bool>(0);
    const auto first = std::find(condition.begin(), condition.end(), false);
    if (first == condition.end()) return;
    std::string text = str(where, message.empty() ? "the condition is false" : message, ".");
    if (in[0].shape.rank() > 0) text += str(" Element ", first - condition.begin(), " of ", in[0], " is false.");
    for (size_t i = 1; i < in.size(); ++i) text += str("\n  data[", i - 1, "] ", text_of(in[i], run.in_[i], kShown));
    throw InvalidArgument(text);
  };
}

}  // namespace martello
