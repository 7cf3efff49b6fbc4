#include <martello/runtime/internal/session_impl.h>

#include <martello/base/error.h>
#include <martello/base/log.h>
#include <martello/base/threads.h>
#include <martello/ops/variable.h>
#include <martello/runtime/internal/body_kernel.h>

#include <malloc.h>

#include <chrono>
#include <cstring>
#include <shared_mutex>

namespace martello {
namespace {

// Appends the bytes of a number to a key.
template <class T>
std::string& append_key(std::string& key, T value) {
  return key.append(reinterpret_cast<const char*>(&value), sizeof value);
}

void check_graph(const Graph::Impl& graph, const OpNode& node) {
  MARTELLO_CHECK(node.graph == &graph, "[session] '", node.name, "' belongs to another graph than the session's.");
}

Tensor tensor_of(const Graph& graph, const Fetch& f) {
  if (!f.tensor().is_null()) {
    check_graph(graph.impl(), *f.tensor().node());
    return f.tensor();
  }
  const Operation op = f.operation();
  MARTELLO_CHECK(op.is_null(), "[session] operation '", op.is_null() ? "" : op.name(), "' (",
                 op.is_null() ? "" : op.type(), ") has no value: it cannot be fed, read or set. Name a tensor.");
  MARTELLO_CHECK(!f.name().empty(), "[session] a null Tensor or Operation was given to a run: it was never assigned.");
  return graph.get_tensor(f.name(), f.line());
}

}  // namespace

Session::Impl::Impl(Graph g, SessionOptions o)
    : graph(std::move(g)), options(std::move(o)), chooser(options.kernel_choice, options.recorded_choices) {
  if (options.threads <= 0) options.threads = default_threads();
  check_precision(options.precision);
}

Tensor Session::Impl::fed_tensor(const Fetch& feed) const {
  return with_line(feed.line(), [&] { return tensor_of(graph, feed); });
}

namespace {

void add_fetch(RunSignature& s, const Graph& graph, const Fetch& f) {
  const auto named = f.name().empty() ? std::nullopt : graph.find_operation(f.name());
  const Operation op = named && named->node()->outputs.empty() ? *named : f.operation();
  if (op.is_null()) {
    s.position.push_back(static_cast<int>(s.fetches.size()));
    s.fetches.push_back(tensor_of(graph, f));
    return;
  }
  check_graph(graph.impl(), *op.node());
  s.targets.push_back(op);
  s.position.push_back(-1);
}

void add_feed(RunSignature& s, const Graph& graph, const Fetch& f) {
  const Tensor t = tensor_of(graph, f);
  for (const Tensor& other : s.feeds)
    MARTELLO_CHECK(!(other == t), "[feed '", t.name(), "'] is fed twice in one run. Give it one value.");
  s.feeds.push_back(t);
}

}  // namespace

RunSignature Session::Impl::resolve(const Fetches& fetches, const std::vector<Fetch>& feeds) const {
  RunSignature s;
  s.asked = fetches.list();
  for (const Fetch& f : s.asked) with_line(f.line(), [&] { add_fetch(s, graph, f); });
  for (const Fetch& f : feeds) with_line(f.line(), [&] { add_feed(s, graph, f); });
  for (const Tensor& t : s.fetches) append_key(append_key(s.key, t.node()->id), t.index());
  append_key(s.key, int64_t{-1});
  for (const Operation& o : s.targets) append_key(s.key, o.node()->id);
  append_key(s.key, int64_t{-1});
  for (const Tensor& t : s.feeds) append_key(append_key(s.key, t.node()->id), t.index());
  return s;
}

std::shared_ptr<const Plan> Session::Impl::get_plan(const RunSignature& signature, const std::vector<Shape>& shapes) {
  std::string key = signature.key;
  append_key(key, graph.impl().rewirings);
  for (const Shape& shape : shapes) {
    append_key(key, shape.rank());
    for (int64_t d : shape.symbolic()) append_key(key, d);
  }
  std::lock_guard lock(plans_mutex);
  if (const auto it = plan_by_key.find(key); it != plan_by_key.end()) {
    plans.splice(plans.begin(), plans, it->second);
    return it->second->plan;
  }
  auto plan = make_plan(signature, shapes, options.disabled_passes);
  remember(key, plan);
  return plan;
}

std::shared_ptr<const Plan> Session::Impl::make_plan(const RunSignature& signature, const std::vector<Shape>& shapes,
                                                     const std::vector<std::string>& disabled_passes) {
  const auto start = std::chrono::steady_clock::now();
  const KernelChooserScope choices(&chooser);
  PlanGraph extracted = extract(graph, signature.fetches, signature.targets, signature.feeds, shapes);
  const auto program = compile(std::move(extracted),
                               {options.threads, disabled_passes, options.always_parallel, options.precision}, &store);
  program->report.total_milliseconds =
      std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  auto plan = std::make_shared<Plan>();
  plan->id = next_plan_id++;
  plan->program = program;
  std::shared_lock lock(store.mutex);
  for (const std::string& name : program->variables) plan->variables.push_back(store.find(name));
  for (const std::string& name : program->written) plan->written.push_back(store.find(name));
  for (const ProgramDerived& d : program->derived) {
    plan->derived.push_back(std::make_unique<DerivedForm>());
    plan->derived.back()->buffer = Buffer(d.bytes, Device::parse(program->devices[0]));
  }
  logger::detail("plan", "plan ", plan->id, ": ", program->report.nodes, " nodes in ",
                 program->report.total_milliseconds, " ms");
  for (const std::string& line : program->report.implementations) logger::detail("plan", line);
  return plan;
}

void Session::Impl::remember(const std::string& key, std::shared_ptr<const Plan> plan) {
  plans.push_front({key, std::move(plan)});
  plan_by_key[key] = plans.begin();
  while (plans.size() > std::max<size_t>(options.plan_cache, 1)) {
    const int64_t id = plans.back().plan->id;
    plan_by_key.erase(plans.back().key);
    plans.pop_back();
    std::lock_guard lock(lanes_mutex);
    for (Lane* lane : free_lanes) lane->forget(id);
  }
}

void Session::Impl::initialize(const Plan& plan) {
  if (plan.has_initialized.load(std::memory_order_acquire)) return;
  std::lock_guard planning(plans_mutex);
  initialize(plan.program->variables);
#ifdef __GLIBC__
  // Planning, first values and variables that moved into groups have freed about as much as the variables hold; the C
  // library would keep it.
  malloc_trim(0);
#endif
  plan.has_initialized.store(true, std::memory_order_release);
}

void Session::Impl::initialize(const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    int index;
    {
      std::shared_lock lock(store.mutex);
      index = store.find(name);
      if (store.entry(index).is_initialized) continue;
    }
    const OpNode& node = *graph.get_operation(name).node();
    const Subgraph& initializer = node.attrs.get<VariableAttrs>().initializer;
    MARTELLO_CHECK(!initializer.is_null(), node.where(),
                   "has no value and no initializer. Give it a value with Session::set() first.\n  ", node.context());
    const auto program = compile_body(initializer, {}, {options.threads, {}});
    const Buffer arena(program->arena_bytes[0]);
    BoundProgram bound(program, {arena.data()});
    bound.start(1);
    for (size_t s = 0; s < program->segments.size(); ++s) bound.run_segment(s, 0, nullptr);
    std::unique_lock lock(store.mutex);
    HostTensor value(store.entry(index).shape, store.entry(index).dtype);
    if (value.num_bytes() > 0)
      std::memcpy(value.mutable_raw(), bound.fetch(0).data, static_cast<size_t>(value.num_bytes()));
    store.write(index, value);
  }
}

int Session::Impl::get_variable_index(const Fetch& variable, bool needs_value) {
  const Tensor t = fed_tensor(variable);
  MARTELLO_CHECK(t.node()->def == &op_variable, "[session] '", t.name(), "' is a ", t.node()->def->name,
                 ", not a variable.\n  ", t.node()->context());
  std::lock_guard planning(plans_mutex);
  int index;
  {
    std::unique_lock lock(store.mutex);
    index = store.add(*t.node());
  }
  if (needs_value) initialize({t.node()->name});
  return index;
}

}  // namespace martello
