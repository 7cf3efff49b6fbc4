#include <martello/base/checked.h>
#include <martello/base/threads.h>
#include <martello/kernel/cpu/flush_denormals.h>
#include <martello/ops/internal/update_product.h>
#include <martello/ops/internal/update_scalars.h>

#include <algorithm>

namespace martello {
namespace {

using internal::UpdateLayout;
using internal::UpdateProduct;

// A piece of one variable.
struct Chunk {
  int variable;
  int64_t begin, count;
  // What a thread has of it. No line of memory is cut.
  Chunk share(int thread, int threads) const {
    constexpr int64_t kLine = 16;
    const Share lines = Share::of(ceil_div(count, kLine), thread, threads);
    const int64_t first = std::min(count, lines.first * kLine), last = std::min(count, lines.last * kLine);
    return {variable, begin + first, last - first};
  }
};

std::vector<Chunk> whole_variables(const KernelPlan& plan, const UpdateLayout& layout) {
  std::vector<Chunk> wholes;
  for (int64_t v = 0; v < layout.count; ++v) {
    if (layout.is_product(v)) continue;
    wholes.push_back({static_cast<int>(v), 0, plan.in[static_cast<size_t>(layout.variable(v))].shape.num_elements()});
  }
  return wholes;
}

// The same cut with any number of threads.
std::vector<Chunk> cut(const std::vector<Chunk>& wholes) {
  constexpr int64_t kMost = 16384;
  std::vector<Chunk> chunks;
  for (const Chunk& c : wholes)
    for (int64_t begin = 0; begin < c.count; begin += kMost)
      chunks.push_back({c.variable, begin, std::min(kMost, c.count - begin)});
  return chunks;
}

// An update as planned: what it is, and how it is cut.
template <class T>
struct Update {
  OptimizerUpdateAttrs attrs;
  UpdateLayout layout;
  DType rate_dtype;
  std::vector<Chunk> chunks;

  explicit Update(const KernelPlan& plan)
      : attrs(plan.attrs<OptimizerUpdateAttrs>()),
        layout(attrs, false),
        rate_dtype(plan.in[0].dtype),
        chunks(whole_variables(plan, layout)) {}

  double decay(const Chunk& c) const {
    return attrs.weight_decay.empty() ? 0 : attrs.weight_decay[static_cast<size_t>(c.variable)];
  }

  cpu::UpdateSpan<T> span(const KernelRun& run, const Chunk& c, const cpu::UpdateConstants<T>& constants) const {
    const auto at = [&](int input) { return static_cast<T*>(run.in_[input].data) + c.begin; };
    cpu::UpdateSpan<T> s;
    if (layout.traits.takes_gradient) s.g = at(layout.gradient(c.variable));
    s.w = at(layout.variable(c.variable));
    for (int i = 0; i < layout.traits.slots; ++i) s.slots[i] = at(layout.slot(i, c.variable));
    s.count = c.count;
    s.constants = constants;
    return s;
  }

  // body(chunk index, chunk)
  template <class F>
  void each_chunk(const KernelRun& run, const F& body) const {
    parallel_for(run.threads, static_cast<int64_t>(chunks.size()), [&](int64_t i) {
      const cpu::FlushDenormals flush;
      body(static_cast<size_t>(i), chunks[static_cast<size_t>(i)]);
    });
  }
};

std::vector<UpdateProduct> products_of(const KernelPlan& plan, const UpdateLayout& layout) {
  std::vector<UpdateProduct> products;
  for (int64_t variable : layout.products) products.emplace_back(plan, layout, static_cast<int>(variable));
  return products;
}

template <class T>
Kernel one_pass(const KernelPlan& plan) {
  Update<T> u(plan);
  const auto products = products_of(plan, u.layout);
  int64_t scratch = 0;
  for (const UpdateProduct& p : products) scratch = std::max(scratch, p.scratch_bytes());
  Kernel kernel([=](const KernelRun& run) {
    if (internal::is_closed(run, u.layout)) return;
    const double rate = internal::read_scalar(run, 0, u.rate_dtype);
    const auto constants = internal::make_constants<T>(u.attrs, rate, internal::next_step(run, u.layout));
    const auto sweep = internal::update_loop<T>(u.attrs.rule);
    const auto span_of = [&](const Chunk& c) {
      auto span = u.span(run, c, constants);
      span.constants.keep = static_cast<T>(1 - rate * u.decay(c));
      return span;
    };
    // Of every variable the share that its products have given to this thread: see Note [Short products].
    parallel_shares(run.threads, [&](int thread, int threads) {
      const cpu::FlushDenormals flush;
      for (const Chunk& c : u.chunks) sweep(span_of(c.share(thread, threads)));
    });
    if constexpr (std::is_same_v<T, float>)
      for (const UpdateProduct& p : products) p.run(run, sweep, span_of({p.variable(), 0, 0}));
  });
  return kernel.scratch(scratch);
}

// Chunk sums of one variable are added in order: the norms do not depend on threads.
void find_trust(const std::vector<Chunk>& chunks, cpu::LambNorms* norms, double* trust) {
  for (size_t i = 0; i < chunks.size();) {
    cpu::LambNorms sum;
    size_t end = i;
    for (; end < chunks.size() && chunks[end].variable == chunks[i].variable; ++end) {
      sum.weight += norms[end].weight;
      sum.step += norms[end].step;
    }
    trust[chunks[i].variable] = sum.weight > 0 && sum.step > 0 ? std::sqrt(sum.weight) / std::sqrt(sum.step) : 1;
    i = end;
  }
}

// First the slots and the norms, then the weights.
template <class T>
Kernel two_passes(const KernelPlan& plan) {
  Update<T> u(plan);
  u.chunks = cut(u.chunks);  // norms are sums of its sums
  const int64_t bytes = checked_add(checked_mul(static_cast<int64_t>(u.chunks.size()), sizeof(cpu::LambNorms)),
                                    checked_mul(u.layout.count, sizeof(double)));
  Kernel kernel([u](const KernelRun& run) {
    if (internal::is_closed(run, u.layout)) return;
    const double rate = internal::read_scalar(run, 0, u.rate_dtype);
    const auto constants = internal::make_constants<T>(u.attrs, rate, internal::next_step(run, u.layout));
    auto* norms = reinterpret_cast<cpu::LambNorms*>(run.scratch);
    auto* trust = reinterpret_cast<double*>(norms + u.chunks.size());
    const auto span_of = [&](const Chunk& c) {
      auto span = u.span(run, c, constants);
      span.constants.decay = static_cast<T>(u.decay(c));
      return span;
    };
    u.each_chunk(run, [&](size_t i, const Chunk& c) {
      if constexpr (std::is_same_v<T, float>) norms[i] = internal::update_loops().lamb_moments_f32(span_of(c));
      else norms[i] = internal::update_loops().lamb_moments_f64(span_of(c));
    });
    find_trust(u.chunks, norms, trust);
    u.each_chunk(run, [&](size_t, const Chunk& c) {
      auto span = span_of(c);
      span.constants.trust_rate = static_cast<T>(rate * trust[c.variable]);
      internal::update_loop<T>(UpdateRule::lamb)(span);
    });
  });
  return kernel.scratch(bytes);
}

template <class T>
Kernel update_kernel(const KernelPlan& plan) {
  return plan.attrs<OptimizerUpdateAttrs>().rule == UpdateRule::lamb ? two_passes<T>(plan) : one_pass<T>(plan);
}

}  // namespace

Kernel optimizer_update_cpu(const KernelPlan& plan) {
  const UpdateLayout layout(plan.attrs<OptimizerUpdateAttrs>(), false);
  const bool is_f64 = layout.count > 0 && plan.in[static_cast<size_t>(layout.variable(0))].dtype == f64;
  return is_f64 ? update_kernel<double>(plan) : update_kernel<float>(plan);
}

}  // namespace martello
