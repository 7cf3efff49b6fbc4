#include <martello/runtime/internal/schedule.h>

#include <martello/base/error.h>
#include <martello/graph/core_ops.h>
#include <martello/graph/write_targets.h>
#include <martello/ops/assign.h>
#include <martello/ops/variable.h>

#include <algorithm>
#include <map>
#include <set>

// Note [What a run means]
// A run is compute (writes no variable), then update: all writes, in order of creation. A variable node is the value at
// the start of the run. A pure node may run at any time after its inputs, so control edges do not move it; what acts or
// reads state (read_variable, print, host_call) runs where its control edges put it. A read after a write therefore
// starts another stage: compute 0, update 0, compute 1, update 1 ... An old value that a later stage, or another write
// of the same update, still needs is copied in stage 0.
namespace martello {
namespace {

bool is_write(const OpNode& node) { return node.def->effect == Effect::write; }
// Runs where control edges put it.
bool acts(const OpNode& node) { return node.def->effect == Effect::read || node.def->effect == Effect::host; }

// The variable whose memory this tensor is, or null.
OpNode* variable_behind(Tensor t) {
  OpNode* source = alias_source(t).node();
  return source->def == &op_variable ? source : nullptr;
}

class Stages {
 public:
  explicit Stages(const PlanGraph& plan, const std::vector<OpNode*>& order)
      : stage_(static_cast<size_t>(plan.impl().next_id), 0), after_(stage_), seen_(stage_) {
    for (OpNode* node : order) assign(*node);
  }
  int of(const OpNode& node) const { return stage_[static_cast<size_t>(node.id)]; }
  const std::vector<int>& all() const { return stage_; }

 private:
  int& at(std::vector<int>& list, const OpNode& node) { return list[static_cast<size_t>(node.id)]; }

  void assign(OpNode& node) {
    int data = 0, after = 0, seen = 0;
    const auto visit = [&](OpNode& dependency) {
      after = std::max(after, is_write(dependency) ? at(stage_, dependency) + 1 : at(after_, dependency));
      seen = std::max(seen, at(seen_, dependency));
    };
    for (const Tensor& t : node.inputs) {
      data = std::max(data, at(stage_, *t.node()));
      visit(*t.node());
    }
    for (OpNode* c : node.controls) visit(*c);
    at(after_, node) = after;  // the first stage that sees all writes before this node
    int& stage = at(stage_, node);
    stage = data;
    if (acts(node)) stage = std::max(stage, after);
    if (is_write(node)) stage = std::max(stage, seen);  // ordered among the writes of its update
    at(seen_, node) = std::max(seen, stage);            // the last stage in which something before it runs
  }

  std::vector<int> stage_, after_, seen_;
};

// Writes that must come before each write because a path leads from them.
class WriteOrder {
 public:
  explicit WriteOrder(const std::vector<OpNode*>& order) {
    for (OpNode* node : order) {
      if (is_write(*node)) writes_.push_back(node);
      if (follows_a_write(*node)) following_.insert(node);
    }
    std::sort(writes_.begin(), writes_.end(), [](auto* a, auto* b) { return a->id < b->id; });
    for (OpNode* w : writes_) find_earlier(w);
  }

  bool comes_before(const OpNode* a, const OpNode* b) const { return earlier_.at(b).contains(a); }

  // Creation order, except where a path says otherwise.
  std::vector<OpNode*> sorted(const std::vector<OpNode*>& writes) const {
    std::vector<OpNode*> pending(writes), done;
    std::sort(pending.begin(), pending.end(), [](auto* a, auto* b) { return a->id < b->id; });
    while (!pending.empty()) {
      const auto is_ready = [&](const OpNode* w) {
        return std::none_of(pending.begin(), pending.end(), [&](const OpNode* o) { return comes_before(o, w); });
      };
      const auto next = std::find_if(pending.begin(), pending.end(), is_ready);
      MARTELLO_ASSERT(next != pending.end(), "writes of one update depend on each other in a circle");
      done.push_back(*next);
      pending.erase(next);
    }
    return done;
  }

  void check_assigns() const {
    std::map<const OpNode*, std::vector<OpNode*>> assigns;
    for (OpNode* w : writes_)
      if (w->def->is_overwrite)
        for (int i : write_targets(*w)) assigns[w->inputs[static_cast<size_t>(i)].node()].push_back(w);
    for (const auto& [variable, list] : assigns)
      for (size_t i = 1; i < list.size(); ++i) check_pair(*variable, *list[i - 1], *list[i]);
  }

 private:
  void check_pair(const OpNode& variable, const OpNode& a, const OpNode& b) const {
    if (comes_before(&a, &b) || comes_before(&b, &a)) return;
    throw InvalidArgument(str(b.where(), "and '", a.name, "' both write variable '", variable.name,
                              "' in one run and no control path says which comes last. Put one inside "
                              "ControlDependencies of the other.\n  '",
                              a.name, "' ", a.context(), "\n  '", b.name, "' ", b.context()));
  }

  bool follows_a_write(const OpNode& node) const {
    const auto leads = [&](const OpNode* n) { return is_write(*n) || following_.contains(n); };
    return std::any_of(node.inputs.begin(), node.inputs.end(), [&](const Tensor& t) { return leads(t.node()); }) ||
           std::any_of(node.controls.begin(), node.controls.end(), leads);
  }

  // Most nodes follow no write and need no look.
  void find_earlier(OpNode* w) {
    auto& found = earlier_[w];
    std::set<const OpNode*> is_seen{w};
    std::vector<OpNode*> stack{w};
    while (!stack.empty()) {
      OpNode* node = stack.back();
      stack.pop_back();
      if (!following_.contains(node)) continue;
      const auto push = [&](OpNode* dependency) {
        if (!is_seen.insert(dependency).second) return;
        if (is_write(*dependency)) found.insert(dependency);
        stack.push_back(dependency);
      };
      for (const Tensor& t : node->inputs) push(t.node());
      for (OpNode* c : node->controls) push(c);
    }
  }

  std::vector<OpNode*> writes_;
  std::map<const OpNode*, std::set<const OpNode*>> earlier_;
  std::set<const OpNode*> following_;
};

void check_targets(const std::vector<OpNode*>& order) {
  for (const OpNode* node : order)
    for (int i : write_targets(*node)) {
      const OpNode& target = *node->inputs[static_cast<size_t>(i)].node();
      MARTELLO_CHECK(
          target.def == &op_variable, node->where(), "writes '", target.name, "', which is a ", target.def->name,
          " in this run and not a variable. Write variables only, and do not feed them.\n  ", node->context());
    }
}

void add_counter_updates(PlanGraph& plan, const std::vector<OpNode*>& order) {
  std::vector<OpNode*> counters;
  for (OpNode* node : order)
    for (const Tensor& t : node->inputs) {
      OpNode* v = t.node();
      const bool is_counter = v->def == &op_variable && v->attrs.get<VariableAttrs>().is_counter;
      if (is_counter && !is_write(*node) && std::find(counters.begin(), counters.end(), v) == counters.end())
        counters.push_back(v);
    }
  for (OpNode* v : counters) {
    OpNode* advance = plan.impl().add(op_advance_counter, {v->output(0)}, Attrs(),
                                      plan.impl().unique_name(v->name + "/advance"), v->line);
    advance->device = v->device;
    plan.targets.push_back(Operation(advance));
  }
}

// Gives readers of an old value a copy of it where a write comes first.
class Snapshots {
 public:
  Snapshots(PlanGraph& plan, const Stages& stages, const std::vector<OpNode*>& order) : plan_(plan) {
    for (OpNode* node : order)
      if (is_write(*node))
        for (int i : write_targets(*node)) {
          const OpNode* v = node->inputs[static_cast<size_t>(i)].node();
          const auto [it, is_new] = first_write_.emplace(v, stages.of(*node));
          if (!is_new) it->second = std::min(it->second, stages.of(*node));
        }
    if (first_write_.empty()) return;
    for (OpNode* node : order) protect(*node, stages.of(*node));
  }
  bool changed() const { return !copies_.empty(); }

 private:
  void protect(OpNode& node, int stage) {
    if (node.def->effect == Effect::read || node.def->is_alias) return;
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      const auto written = first_write_.find(variable_behind(node.inputs[i]));
      if (written == first_write_.end() || is_write_target(node, i)) continue;
      const bool is_too_late = is_write(node) ? written->second <= stage : written->second < stage;
      if (is_too_late) node.inputs[i] = copy_of(node.inputs[i]);
    }
  }

  Tensor copy_of(Tensor t) {
    Tensor& made = copies_[{t.node(), t.index()}];
    if (made.is_null()) {
      OpNode* node =
          plan_.impl().add(op_copy, {t}, Attrs(), plan_.impl().unique_name(t.node()->name + "/old"), t.node()->line);
      node->device = t.node()->device;
      made = node->output(0);
    }
    return made;
  }

  PlanGraph& plan_;
  std::map<const OpNode*, int> first_write_;
  std::map<std::pair<const OpNode*, int>, Tensor> copies_;
};

}  // namespace

Schedule make_schedule(PlanGraph& plan) {
  auto order = topological_order(plan.impl());
  check_targets(order);
  add_counter_updates(plan, order);
  order = topological_order(plan.impl());
  if (Snapshots(plan, Stages(plan, order), order).changed()) order = topological_order(plan.impl());
  const Stages stages(plan, order);
  const WriteOrder writes(order);
  writes.check_assigns();
  Schedule schedule;
  schedule.stage_of = stages.all();
  for (OpNode* node : order) schedule.stages = std::max(schedule.stages, stages.of(*node) + 1);
  for (int stage = 0; stage < schedule.stages; ++stage) {
    std::vector<OpNode*> updates;
    for (OpNode* node : order) {
      if (stages.of(*node) != stage) continue;
      if (is_write(*node)) updates.push_back(node);
      else schedule.nodes.push_back({node, stage, Phase::compute});
    }
    for (OpNode* node : writes.sorted(updates)) schedule.nodes.push_back({node, stage, Phase::update});
  }
  return schedule;
}

}  // namespace martello
