#include <martello/runtime/internal/memory.h>

#include <martello/base/checked.h>
#include <martello/base/error.h>
#include <martello/ops/variable.h>
#include <martello/passes/plan_memory.h>
#include <martello/runtime/internal/variable_store.h>

#include <algorithm>
#include <map>
#include <numeric>

namespace martello {
namespace {

using Home = Value::Home;

// Memory shared by one or more values.
struct Block {
  int64_t bytes = 0;
  int device = 0;
  int first = -1;  // step of its device
  int last = -1;
  int64_t pin = -1;
  std::string label;
  bool is_merged = false;      // lives on as part of another block
  bool is_read_after = false;  // by a fetch or another device, after its last step: that step must not overwrite it
};

class ArenaPlanner {
 public:
  ArenaPlanner(Program& program, const Schedule& schedule, const ValueTable& values, const VariableStore* store)
      : program_(program), schedule_(schedule), values_(values), store_(store) {}

  void plan() {
    number_steps();
    make_blocks();
    for (int device = 0; device < devices(); ++device) find_uses(device);
    for (const ProgramFetch& f : program_.fetches) use_after(f.value, f.segment);
    if (store_) pin_gradients();
    merge_in_place();
    for (int device = 0; device < devices(); ++device) lay_out(device);
    resolve_aliases();
  }

 private:
  int devices() const { return static_cast<int>(program_.devices.size()); }
  Value& value(int v) { return program_.values[static_cast<size_t>(v)]; }
  Block& block(int b) { return blocks_[static_cast<size_t>(b)]; }

  int value_of(const Tensor& t) const {
    return values_[static_cast<size_t>(t.node()->id)][static_cast<size_t>(t.index())];
  }

  // Step numbers run through all segments of a device; segment_end_[s][d] is the number after segment s.
  void number_steps() {
    std::vector<int> next(static_cast<size_t>(devices()), 0);
    for (const Segment& segment : program_.segments) {
      for (int d = 0; d < devices(); ++d)
        next[static_cast<size_t>(d)] += static_cast<int>(segment.steps[static_cast<size_t>(d)].size());
      segment_end_.push_back(next);
    }
    steps_ = next;
  }

  int end_of_segment(int segment, int device) const {
    if (segment < 0) return 0;
    return std::max(0, segment_end_[static_cast<size_t>(segment)][static_cast<size_t>(device)] - 1);
  }

  void make_blocks() {
    root_.assign(program_.values.size(), -1);
    block_.assign(program_.values.size(), -1);
    for (const ScheduledNode& s : schedule_.nodes)
      for (size_t i = 0; i < s.node->outputs.size(); ++i) {
        const int v = value_of(s.node->output(static_cast<int>(i)));
        if (value(v).home != Home::arena) continue;
        if (s.node->def->is_alias && i == 0) {
          root_[static_cast<size_t>(v)] = value_of(s.node->inputs[0]);
          continue;
        }
        Block b;
        b.bytes = checked_mul(value(v).count, size_of(s.node->outputs[i].dtype));
        b.device = value(v).device;
        b.label = s.node->output(static_cast<int>(i)).name();
        block_[static_cast<size_t>(v)] = static_cast<int>(blocks_.size());
        blocks_.push_back(std::move(b));
      }
  }

  int root(int v) const {
    while (root_[static_cast<size_t>(v)] >= 0) v = root_[static_cast<size_t>(v)];
    return v;
  }
  int block_of(int v) const { return block_[static_cast<size_t>(root(v))]; }

  void use(int v, int step) {
    const int b = block_of(v);
    if (b < 0) return;
    Block& memory = block(b);
    memory.first = memory.first < 0 ? step : std::min(memory.first, step);
    memory.last = std::max(memory.last, step);
  }

  // Read at some time before the end of the segment, or right after it.
  void use_after(int v, int segment) {
    use(v, end_of_segment(segment, value(root(v)).device));
    if (const int b = block_of(v); b >= 0) block(b).is_read_after = true;
  }

  void find_uses(int device) {
    int step = 0;
    for (size_t s = 0; s < program_.segments.size(); ++s)
      for (const ProgramStep& p : program_.segments[s].steps[static_cast<size_t>(device)]) {
        for (int v : p.out) use(v, step);
        for (int v : p.in) {
          if (value(root(v)).device == device) use(v, step);
          else use_after(v, static_cast<int>(s));
        }
        ++step;
      }
  }

  void pin_gradients() {
    int64_t base = 0;
    for (const ScheduledNode& s : schedule_.nodes) {
      if (!s.node->def->flat_groups) continue;
      for (const FlatGroup& g : s.node->def->flat_groups(s.node->attrs, static_cast<int>(s.node->inputs.size())))
        base += pin_group(*s.node, g, base);
    }
  }

  int64_t pin_group(const OpNode& node, const FlatGroup& group, int64_t base) {
    int64_t end = 0;
    for (size_t i = 0; i < group.gradients.size(); ++i) {
      if (group.gradients[i] == FlatGroup::kNone) continue;
      const Tensor gradient = node.inputs[static_cast<size_t>(group.gradients[i])];
      const Tensor variable = node.inputs[static_cast<size_t>(group.variables[i])];
      const int index = store_->find(variable.node()->name);
      const int b = block_of(value_of(gradient));
      const int64_t offset = store_->offset_in_group(index);
      const bool can_pin = b >= 0 && block(b).pin < 0 && block(b).bytes == store_->entry(index).bytes;
      if (can_pin) block(b).pin = base + offset;
      else program_.report.pin_copies.push_back(gradient.name());
      end = std::max(end, offset + align_up(store_->entry(index).bytes, Buffer::kAlignment));
    }
    return end;
  }

  // An output takes the memory of an input that dies in the same step.
  void merge_in_place() {
    std::map<std::string_view, OpNode*> by_name;
    for (const ScheduledNode& s : schedule_.nodes) by_name[s.node->name] = s.node;
    for (int device = 0; device < devices(); ++device) {
      int step = 0;
      for (const Segment& segment : program_.segments)
        for (const ProgramStep& p : segment.steps[static_cast<size_t>(device)]) {
          for (const InPlacePair& pair : by_name.at(p.node)->def->in_place)
            if (pair.input >= 0) try_merge(p, pair, step);
          ++step;
        }
    }
  }

  void try_merge(const ProgramStep& p, const InPlacePair& pair, int step) {
    if (pair.input >= static_cast<int>(p.in.size()) || pair.output >= static_cast<int>(p.out.size())) return;
    const int in = p.in[static_cast<size_t>(pair.input)], out = p.out[static_cast<size_t>(pair.output)];
    const int from = block_of(in), to = block_of(out);
    if (from < 0 || to < 0 || from == to) return;
    Block &a = block(from), &b = block(to);
    const bool is_dead = a.last == step && !a.is_read_after && a.device == b.device;
    const bool is_same_size = a.bytes == b.bytes && value(in).count == value(out).count;
    const bool is_first_use = b.first == step;
    if (!is_dead || !is_same_size || !is_first_use || b.pin >= 0 || a.pin >= 0) return;
    a.last = b.last;
    a.is_read_after = b.is_read_after;
    b.is_merged = true;
    root_[static_cast<size_t>(root(out))] = root(in);
  }

  void lay_out(int device) {
    std::vector<Lifetime> lifetimes;
    std::vector<int64_t*> targets;
    std::vector<std::string> labels;
    for (Block& b : blocks_) {
      if (b.is_merged || b.device != device || b.first < 0) continue;
      lifetimes.push_back({b.bytes, b.first, b.last, b.pin});
      labels.push_back(b.label);
    }
    const size_t values = lifetimes.size();
    int step = 0;
    std::vector<std::string> nodes;
    for (Segment& segment : program_.segments)
      for (ProgramStep& p : segment.steps[static_cast<size_t>(device)]) {
        nodes.push_back(p.node);
        if (p.kernel.scratch_bytes() > 0) {
          lifetimes.push_back({p.kernel.scratch_bytes(), step, step, -1});
          labels.push_back(p.node + " (scratch)");
          targets.push_back(&p.scratch_offset);
        }
        ++step;
      }
    const MemoryLayout layout = plan_memory(lifetimes, std::max(step, 1));
    size_t next = 0;
    for (Block& b : blocks_)
      if (!b.is_merged && b.device == device && b.first >= 0) offsets_[&b] = layout.offsets[next++];
    for (size_t i = 0; i < targets.size(); ++i) *targets[i] = layout.offsets[values + i];
    for (size_t i = 0; i < values; ++i)
      if (lifetimes[i].pinned_offset >= 0 && !layout.is_pin_kept[i]) program_.report.pin_copies.push_back(labels[i]);
    program_.arena_bytes.push_back(layout.arena_bytes);
    report(device, layout, lifetimes, labels, nodes);
  }

  void report(int device, const MemoryLayout& layout, const std::vector<Lifetime>& lifetimes,
              const std::vector<std::string>& labels, const std::vector<std::string>& nodes) {
    DeviceMemory memory;
    memory.device = program_.devices[static_cast<size_t>(device)];
    memory.arena_bytes = layout.arena_bytes;
    memory.largest_live_bytes = layout.largest_live_bytes;
    const auto peak = static_cast<size_t>(layout.step_at_peak);
    memory.peak_node = peak < nodes.size() ? nodes[peak] : std::string();
    for (size_t i = 0; i < lifetimes.size(); ++i)
      memory.buffers.push_back(
          {labels[i], layout.offsets[i], lifetimes[i].bytes, lifetimes[i].first, lifetimes[i].last});
    for (const Value& v : program_.values) {
      if (v.device != device) continue;
      if (v.home == Home::variable && store_)
        memory.variable_bytes += store_->entry(store_->find(program_.variables[static_cast<size_t>(v.index)])).bytes;
      if (v.home == Home::derived) memory.derived_bytes += program_.derived[static_cast<size_t>(v.index)].bytes;
      if (v.home == Home::constant)
        memory.constant_bytes += program_.constants[static_cast<size_t>(v.index)].num_bytes();
    }
    program_.memory.devices.push_back(std::move(memory));
  }

  // An alias lies where its root lies, whatever kind of memory that is.
  void resolve_aliases() {
    for (size_t v = 0; v < program_.values.size(); ++v) {
      const int r = root(static_cast<int>(v));
      Value& to = program_.values[v];
      const Value& from = value(r);
      to.home = from.home;
      to.index = from.index;
      to.device = from.device;
      const int b = block_[static_cast<size_t>(r)];
      if (b >= 0) to.offset = offsets_.contains(&block(b)) ? offsets_.at(&block(b)) : 0;
    }
  }

  Program& program_;
  const Schedule& schedule_;
  const ValueTable& values_;
  const VariableStore* store_;
  std::vector<std::vector<int>> segment_end_;
  std::vector<int> steps_;
  std::vector<int> root_;   // by value: the value whose memory it shares, -1 for its own
  std::vector<int> block_;  // by value
  std::vector<Block> blocks_;
  std::map<const Block*, int64_t> offsets_;
};

}  // namespace

void plan_arenas(Program& program, const Schedule& schedule, const ValueTable& values, const VariableStore* store) {
  ArenaPlanner(program, schedule, values, store).plan();
}

std::string MemoryPlan::str() const {
  std::string text;
  const auto mb = [](int64_t bytes) { return martello::str(static_cast<double>(bytes / 1024) / 1024, " MiB"); };
  for (const DeviceMemory& d : devices) {
    text += martello::str(d.device, ": peak ", mb(d.arena_bytes), " at '", d.peak_node, "' (largest live set ",
                          mb(d.largest_live_bytes), "), variables ", mb(d.variable_bytes), ", packed ",
                          mb(d.derived_bytes), ", constants ", mb(d.constant_bytes), "\n");
    auto largest = d.buffers;
    std::stable_sort(largest.begin(), largest.end(), [](auto& a, auto& b) { return a.bytes > b.bytes; });
    if (largest.size() > 10) largest.resize(10);
    for (const PlannedBuffer& b : largest)
      text += martello::str("  ", mb(b.bytes), "  ", b.tensor, "  steps ", b.first, " to ", b.last, "\n");
  }
  return text;
}

}  // namespace martello
