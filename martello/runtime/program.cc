#include <martello/runtime/internal/program.h>

#include <martello/base/checked.h>
#include <martello/base/error.h>
#include <martello/base/log.h>
#include <martello/base/threads.h>
#include <martello/graph/core_ops.h>
#include <martello/graph/write_targets.h>
#include <martello/ops/cast.h>
#include <martello/ops/reorder.h>
#include <martello/ops/variable.h>
#include <martello/runtime/internal/body_kernel.h>
#include <martello/runtime/internal/memory.h>
#include <martello/runtime/internal/threads_for.h>
#include <martello/runtime/internal/variable_store.h>

#include <algorithm>
#include <map>
#include <mutex>

namespace martello {

bool Program::has_update() const {
  return std::any_of(segments.begin(), segments.end(), [](const Segment& s) { return s.phase == Phase::update; });
}

namespace {

// Inputs that must have as many rows as each other in every run: all whose rows pass as those of an input that depends
// on data do, unless they are repeated beside it.
std::vector<int> find_row_inputs(const OpNode& node) {
  const auto first = std::find_if(node.inputs.begin(), node.inputs.end(), has_dynamic_rows);
  if (first == node.inputs.end() || node.def->has_rows_by_position) return {};
  const Rows passed = rows_of(node, static_cast<size_t>(first - node.inputs.begin()));
  if (passed != Rows::same && !node.def->broadcasts) return {};
  std::vector<int> list;
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    const Tensor& x = node.inputs[i];
    const bool is_beside = x.rank() > 0 && x.shape()[0] == first->shape()[0] && rows_of(node, i) == passed;
    const bool is_repeated = node.def->broadcasts && !has_dynamic_rows(x) && x.rank() > 0 && x.shape()[0] == 1;
    if (is_beside && !is_repeated) list.push_back(static_cast<int>(i));
  }
  return list;
}

// A node of empty results still says when rows do not go together.
bool has_step(const OpNode& node) {
  return !needs_no_kernel(*node.def) && (!gives_nothing(node) || find_row_inputs(node).size() > 1);
}

class Compiler {
 public:
  Compiler(PlanGraph plan, const ProgramOptions& options, VariableStore* store)
      : plan_(std::move(plan)), options_(options), store_(store) {}

  std::shared_ptr<Program> compile() {
    plan_.threads = options_.threads;
    plan_.precision = options_.precision;
    for (const PassRun& run : run_passes(plan_, options_.disabled_passes))
      program_->report.passes.push_back({std::string(run.name), run.milliseconds, run.changed});
    schedule_ = make_schedule(plan_);
    check_body();
    if (store_) register_variables();
    find_devices();
    make_values();
    make_segments();
    make_fetches();
    plan_arenas(*program_, schedule_, values_, store_);
    program_->report.nodes = static_cast<int64_t>(plan_.impl().nodes.size());
    program_->graph = plan_.graph;
    return program_;
  }

 private:
  // Only a session's plan has a store, and so may write.
  void check_body() const {
    if (store_) return;
    for (const ScheduledNode& s : schedule_.nodes)
      MARTELLO_CHECK(s.phase == Phase::compute, s.node->where(),
                     "writes a variable inside a subgraph, which is not "
                     "allowed. Return the value and assign it outside.\n  ",
                     s.node->context());
  }

  // Variables of one optimizer group move side by side, last made first, before anything is laid out beside them.
  void register_variables() {
    std::unique_lock lock(store_->mutex);
    for (const ScheduledNode& s : schedule_.nodes)
      if (s.node->def == &op_variable) store_->add(*s.node);
    for (const ScheduledNode& s : schedule_.nodes) {
      if (!s.node->def->flat_groups) continue;
      for (const FlatGroup& group : s.node->def->flat_groups(s.node->attrs, static_cast<int>(s.node->inputs.size()))) {
        std::vector<int> members;
        for (auto it = group.variables.rbegin(); it != group.variables.rend(); ++it)
          members.push_back(store_->find(s.node->inputs[static_cast<size_t>(*it)].node()->name));
        store_->form_group(members);
      }
    }
  }

  void find_devices() {
    for (const ScheduledNode& s : schedule_.nodes)
      if (device_index_.emplace(s.node->device, 0).second) program_->devices.push_back(s.node->device);
    if (program_->devices.empty()) program_->devices.push_back("cpu:0");
    std::sort(program_->devices.begin(), program_->devices.end(),
              [](const std::string& a, const std::string& b) { return Device::parse(a) < Device::parse(b); });
    for (size_t i = 0; i < program_->devices.size(); ++i) device_index_[program_->devices[i]] = static_cast<int>(i);
  }

  int& value_of(const Tensor& t) {
    auto& list = values_[static_cast<size_t>(t.node()->id)];
    return list[static_cast<size_t>(t.index())];
  }

  int add_value(const Tensor& t) {
    Value v;
    const Shape& shape = t.shape();
    MARTELLO_CHECK(shape.is_known(), t.node()->where(), "its result ", t.dtype(), shape,
                   " has a size that only the run knows. Sizes must follow from shapes, constants and attributes.\n  ",
                   t.node()->context());
    v.count = shape.num_elements();
    v.rows = shape.rank() > 0 ? shape[0] : 1;
    v.per_row = shape.rank() > 0 ? shape.num_elements(1, shape.rank()) : 1;
    v.device = device_index_.at(t.node()->device);
    program_->values.push_back(v);
    value_of(t) = static_cast<int>(program_->values.size()) - 1;
    return value_of(t);
  }

  void make_values() {
    values_.resize(static_cast<size_t>(plan_.impl().next_id));
    for (const auto& node : plan_.impl().nodes) values_[static_cast<size_t>(node->id)].assign(node->outputs.size(), -1);
    for (size_t i = 0; i < plan_.feeds.size(); ++i) make_feed(i);
    for (const ScheduledNode& s : schedule_.nodes) make_outputs(*s.node);
  }

  void make_feed(size_t i) {
    const Tensor t = plan_.feeds[i];
    program_->is_feed_used.push_back(!t.is_null());
    program_->feeds.push_back(t.is_null() ? TensorSpec{} : TensorSpec{t.shape(), t.dtype(), t.name(), {}});
    if (t.is_null()) return;
    Value& v = program_->values[static_cast<size_t>(add_value(t))];
    v.home = Value::Home::feed;
    v.index = static_cast<int>(i);
  }

  void make_outputs(OpNode& node) {
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      const Tensor t = node.output(static_cast<int>(i));
      if (value_of(t) >= 0) continue;  // a feed
      Value& v = program_->values[static_cast<size_t>(add_value(t))];
      if (node.def == &op_variable) {
        v.home = Value::Home::variable;
        v.index = static_cast<int>(program_->variables.size());
        program_->variables.push_back(node.name);
      } else if (node.def == &op_constant) {
        v.home = Value::Home::constant;
        v.index = static_cast<int>(program_->constants.size());
        program_->constants.push_back(node.attrs.get<ConstantAttrs>().value);
      } else if (const int variable = find_derived_from(node); variable >= 0) {
        v.home = Value::Home::derived;
        v.index = static_cast<int>(program_->derived.size());
        program_->derived.push_back({variable, checked_mul(v.count, size_of(node.outputs[i].dtype))});
      } else {
        v.home = Value::Home::arena;
      }
      choose_rows_cell(node, v, i);
    }
  }

  // The position of the variable whose derived form this node makes, or -1. See Note [Derived forms].
  int find_derived_from(const OpNode& node) {
    const bool is_form = node.def == &op_reorder || (node.def == &op_cast && node.outputs[0].dtype == bf16);
    if (!is_form || !store_ || program_->devices.size() > 1) return -1;
    const bool writes = std::any_of(schedule_.nodes.begin(), schedule_.nodes.end(),
                                    [](const ScheduledNode& s) { return s.phase == Phase::update; });
    if (writes) return -1;
    const Tensor source = alias_source(node.inputs[0]);
    return source.node()->def == &op_variable ? program_->values[static_cast<size_t>(value_of(source))].index : -1;
  }

  // A row-wise op passes the cell of its input on; an op that makes rows owns one.
  void choose_rows_cell(const OpNode& node, Value& v, size_t output) {
    if (!node.outputs[output].has_dynamic_rows) return;
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      if (node.def->has_rows_by_position && i != output) continue;
      const int cell = program_->values[static_cast<size_t>(value_of(node.inputs[i]))].rows_cell;
      if (cell >= 0 && rows_of(node, i) == Rows::same) v.rows_cell = cell;
    }
    if (v.rows_cell < 0) v.rows_cell = program_->rows_cells++;
  }

  void make_segments() {
    std::vector<OpNode*> nodes;
    for (const ScheduledNode& s : schedule_.nodes)
      if (has_step(*s.node)) nodes.push_back(s.node);
    const int most = std::max(1, options_.threads / static_cast<int>(program_->devices.size()));
    const auto threads = options_.always_parallel ? std::vector<int>(nodes.size(), most) : choose_threads(nodes, most);
    size_t next = 0;
    for (const ScheduledNode& s : schedule_.nodes) {
      if (!has_step(*s.node)) continue;
      Segment& segment = segment_for(s);
      auto& steps = segment.steps[static_cast<size_t>(device_index_.at(s.node->device))];
      steps.push_back(make_step(*s.node, threads[next++]));
      link_devices(*s.node, steps.back());
    }
  }

  Segment& segment_for(const ScheduledNode& s) {
    auto& segments = program_->segments;
    if (segments.empty() || segments.back().stage != s.stage || segments.back().phase != s.phase) {
      segments.push_back({s.phase, s.stage, {}});
      segments.back().steps.resize(program_->devices.size());
    }
    if (s.phase == Phase::compute) segment_of_stage_[s.stage] = static_cast<int>(segments.size()) - 1;
    return segments.back();
  }

  ProgramStep make_step(OpNode& node, int threads) try {
    ProgramStep step;
    step.node = node.name;
    step.op = node.def->name;
    step.line = node.line;
    step.threads = threads;
    step.rows = node.def->rows;
    std::vector<TensorSpec> in, out;
    for (const Tensor& t : node.inputs) {
      in.push_back({t.shape(), t.dtype(), {}, {}});
      step.in.push_back(value_of(t));
    }
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      out.push_back(node.outputs[i].spec());
      step.out.push_back(value_of(node.output(static_cast<int>(i))));
    }
    for (const auto* list : {&step.in, &step.out})
      for (int v : *list)
        step.has_dynamic_rows = step.has_dynamic_rows || program_->values[static_cast<size_t>(v)].rows_cell >= 0;
    if (step.has_dynamic_rows) step.row_inputs = find_row_inputs(node);
    BodyPlanner bodies(options_);
    ThreadCount team(threads);  // libraries fix their team when a primitive is made
    const KernelPlan kernel_plan{node.info(), in,     out, &node.attrs, threads, Device::parse(node.device),
                                 &bodies,     nullptr};
    step.kernel = node.def->cpu(kernel_plan);
    if (!step.out.empty()) {
      const Value& first = program_->values[static_cast<size_t>(step.out[0])];
      if (first.home == Value::Home::derived) step.derived = first.index;
    }
    MARTELLO_ASSERT(!step.kernel.is_null(), "op '", node.def->name, "' planned no kernel for '", node.name, "'");
    for (int i : write_targets(node)) program_->written.push_back(node.inputs[static_cast<size_t>(i)].node()->name);
    program_->report.implementations.push_back(
        str(node.name, ": ", step.kernel.implementation(), ", ", threads, threads == 1 ? " thread" : " threads"));
    return step;
  } catch (Error& e) {
    e.add_context(str("while planning '", node.name, "' (", node.def->name, ")"));
    if (node.line.known()) e.add_context(node.context());
    throw;
  }

  // A step that reads another device's value of the same segment waits for the step that makes it.
  void link_devices(const OpNode& node, ProgramStep& step) {
    if (program_->devices.size() == 1) return;
    for (const Tensor& t : node.inputs) wait_for(*alias_source(t).node(), node, step);
    for (const OpNode* c : node.controls) wait_for(*c, node, step);
    for (int i : write_targets(node)) {  // writes of one variable follow each other, wherever they run
      const OpNode*& last = last_write_[node.inputs[static_cast<size_t>(i)].node()];
      if (last) wait_for(*last, node, step);
      last = &node;
    }
    const int device = device_index_.at(node.device);
    made_by_[&node] = {program_->segments.size() - 1, device,
                       program_->segments.back().steps[static_cast<size_t>(device)].size() - 1};
  }

  void wait_for(const OpNode& producer, const OpNode& node, ProgramStep& step) {
    const auto made = made_by_.find(&producer);
    if (made == made_by_.end() || producer.device == node.device) return;
    if (made->second.segment != program_->segments.size() - 1) return;  // a barrier lies between
    ProgramStep& source = program_->segments.back().steps[static_cast<size_t>(made->second.device)][made->second.step];
    if (source.signal < 0) source.signal = program_->events++;
    step.waits.push_back(source.signal);
  }

  void make_fetches() {
    for (const Tensor& t : plan_.fetches) {
      ProgramFetch fetch;
      fetch.value = value_of(t);
      fetch.spec = {t.shape(), t.dtype(), t.name(), {}};
      const auto segment = segment_of_stage_.find(schedule_.stage_of[static_cast<size_t>(t.node()->id)]);
      fetch.segment = segment == segment_of_stage_.end() ? -1 : segment->second;
      program_->fetches.push_back(std::move(fetch));
    }
  }

  struct MadeBy {
    size_t segment;
    int device;
    size_t step;
  };

  PlanGraph plan_;
  const ProgramOptions& options_;
  VariableStore* store_;
  Schedule schedule_;
  std::shared_ptr<Program> program_ = std::make_shared<Program>();
  std::map<std::string, int> device_index_;
  ValueTable values_;
  std::map<int, int> segment_of_stage_;
  std::map<const OpNode*, MadeBy> made_by_;
  std::map<const OpNode*, const OpNode*> last_write_;  // by variable
};

}  // namespace

std::shared_ptr<Program> compile(PlanGraph plan, const ProgramOptions& options, VariableStore* store) {
  return Compiler(std::move(plan), options, store).compile();
}

}  // namespace martello
