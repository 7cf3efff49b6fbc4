#include <martello/base/checked.h>
#include <martello/base/error.h>
#include <martello/ops/scan.h>

#include <algorithm>
#include <cstring>

namespace martello {
namespace {

constexpr int64_t kCounterNumbers = 2, kAlignment = 64;

// Another number for every step of every run.
int64_t mixed(int64_t number, int64_t step) {
  uint64_t x = static_cast<uint64_t>(number) + 0x9e3779b97f4a7c15u * (static_cast<uint64_t>(step) + 1);
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
  x = (x ^ x >> 27) * 0x94d049bb133111ebu;
  return static_cast<int64_t>(x ^ x >> 31);
}

struct Stacked {
  int64_t elements, bytes, rows;  // of one step
  explicit Stacked(const TensorSpec& spec, int first)
      : elements(spec.shape.num_elements(first, spec.shape.rank())),
        bytes(checked_mul(elements, size_of(spec.dtype))),
        rows(spec.shape.rank() > first ? spec.shape[first] : 1) {}
  RunTensor at(void* data, int64_t step) const {
    return {static_cast<std::byte*>(data) + step * bytes, elements, rows};
  }
};

struct ScanPlan {
  int64_t steps = 0;
  bool reverse = false;
  size_t carried, xs;
  std::vector<size_t> counters;
  std::vector<Stacked> in, out;  // of the body

  explicit ScanPlan(const KernelPlan& plan) {
    const auto& a = plan.attrs<ScanAttrs>();
    carried = static_cast<size_t>(a.carried);
    xs = static_cast<size_t>(a.xs);
    reverse = a.reverse;
    steps = xs > 0 ? plan.in[carried].shape[0] : a.steps;
    for (size_t i = 0; i < plan.in.size(); ++i) in.emplace_back(plan.in[i], is_x(i) ? 1 : 0);
    for (size_t i = 0; i < carried; ++i) out.emplace_back(plan.out[i], 0);
    for (size_t i = 2 * carried; i < plan.out.size(); ++i) out.emplace_back(plan.out[i], 1);
    for (int64_t i : a.counters) counters.push_back(static_cast<size_t>(i));
  }
  bool is_x(size_t i) const { return carried <= i && i < carried + xs; }
  int64_t counter_bytes() const {
    return align_up(static_cast<int64_t>(counters.size()) * kCounterNumbers * static_cast<int64_t>(sizeof(int64_t)),
                    kAlignment);
  }
};

// The steps of one lane. What is carried goes from one row of the kept states to the next.
class ScanRun {
 public:
  ScanRun(const ScanPlan& plan, BoundKernel body) : plan_(plan), body_(std::move(body)) {
    in_.resize(plan.in.size());
    out_.resize(plan.out.size());
  }

  void operator()(const KernelRun& run) {
    KernelRun inner = run;
    inner.in_ = in_.data();
    inner.out_ = out_.data();
    inner.scratch = run.scratch + plan_.counter_bytes();
    start(run);
    for (int64_t i = 0; i < plan_.steps; ++i) {
      bind_step(run, i);
      body_(inner);
    }
  }

 private:
  int64_t row(int64_t i) const { return plan_.reverse ? plan_.steps - 1 - i : i; }

  void start(const KernelRun& run) const {
    for (size_t i = 0; i < plan_.carried; ++i) {
      RunTensor& to = plan_.steps > 0 ? run.out_[plan_.carried + i] : run.out_[i];
      const RunTensor first = plan_.in[i].at(to.data, plan_.steps > 0 ? row(0) : 0);
      if (plan_.in[i].bytes > 0) std::memcpy(first.data, run.in_[i].data, static_cast<size_t>(plan_.in[i].bytes));
    }
  }

  void bind_step(const KernelRun& run, int64_t i) {
    const int64_t t = row(i);
    for (size_t k = 0; k < in_.size(); ++k) {
      if (k < plan_.carried) in_[k] = plan_.in[k].at(run.out_[plan_.carried + k].data, t);
      else in_[k] = plan_.in[k].at(run.in_[k].data, plan_.is_x(k) ? t : 0);
    }
    for (size_t k = 0; k < out_.size(); ++k) {
      const bool is_last = i + 1 == plan_.steps;
      if (k >= plan_.carried) out_[k] = plan_.out[k].at(run.out_[k + plan_.carried].data, t);
      else if (is_last) out_[k] = plan_.out[k].at(run.out_[k].data, 0);
      else out_[k] = plan_.out[k].at(run.out_[plan_.carried + k].data, row(i + 1));
    }
    count(run, t);
  }

  void count(const KernelRun& run, int64_t t) {
    auto* numbers = reinterpret_cast<int64_t*>(run.scratch);
    for (size_t k : plan_.counters) {
      const auto* from = static_cast<const int64_t*>(run.in_[k].data);
      for (int64_t i = 0; i < kCounterNumbers; ++i) numbers[i] = mixed(from[i], t);
      in_[k].data = numbers;
      numbers += kCounterNumbers;
    }
  }

  ScanPlan plan_;
  BoundKernel body_;
  std::vector<RunTensor> in_, out_;
};

}  // namespace

Kernel scan_cpu(const KernelPlan& plan) {
  const auto& a = plan.attrs<ScanAttrs>();
  MARTELLO_ASSERT(plan.subgraphs, "scan '", plan.op.name, "' is planned without a planner of bodies");
  const ScanPlan scan(plan);
  std::vector<TensorSpec> in;
  for (size_t i = 0; i < plan.in.size(); ++i) {
    const Shape& shape = plan.in[i].shape;
    in.push_back({.shape = scan.is_x(i) ? shape.slice(1, shape.rank()) : shape, .dtype = plan.in[i].dtype});
  }
  const Kernel body = plan.subgraphs->plan(a.body, in, plan.threads);
  const auto bind = [scan, body](const KernelRun& addresses) -> BoundKernel {
    KernelRun inner = addresses;
    inner.scratch += scan.counter_bytes();
    return ScanRun(scan, body.bind(inner));
  };
  return Kernel::with_bind(bind)
      .scratch(checked_add(scan.counter_bytes(), body.scratch_bytes()))
      .implementation(str(scan.steps, " steps of ", body.implementation()));
}

}  // namespace martello
