#include <martello/graph/graph.h>

#include <martello/base/error.h>
#include <martello/graph/node.h>

#include <charconv>

namespace martello {

struct GraphAccess {
  static void link(Graph::Impl& impl) { impl.collections.finalized_ = &impl.finalized; }
};

Graph::Graph() : impl_(std::make_shared<Impl>()) { GraphAccess::link(*impl_); }

namespace {

std::vector<std::string> all_names(const Graph::Impl& impl) {
  std::vector<std::string> names;
  for (const auto& node : impl.nodes) names.push_back(node->name);
  return names;
}

// "split:1" -> ("split", 1)
std::pair<std::string, int> split_output(std::string_view name) {
  const auto colon = name.rfind(':');
  if (colon == std::string_view::npos) return {std::string(name), 0};
  int index = -1;
  const auto digits = name.substr(colon + 1);
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), index);
  const bool is_number = error == std::errc() && end == digits.data() + digits.size();
  return {std::string(name.substr(0, colon)), is_number ? index : -1};
}

}  // namespace

std::optional<Operation> Graph::find_operation(std::string_view name) const {
  const auto it = impl_->by_name.find(std::string(name));
  return it == impl_->by_name.end() ? std::nullopt : std::optional(Operation(it->second));
}

std::optional<Tensor> Graph::find_tensor(std::string_view name) const {
  const auto [base, index] = split_output(name);
  const auto op = find_operation(base);
  const bool is_there = op && index >= 0 && index < static_cast<int>(op->node()->outputs.size());
  return is_there ? std::optional(Tensor(*op, index)) : std::nullopt;
}

Operation Graph::get_operation(std::string_view name, SourceLine line) const {
  if (auto op = find_operation(name)) return *op;
  NotFound error(str("[graph] there is no operation '", name, "'.", did_you_mean(name, all_names(*impl_))));
  error.add_line(line);
  throw error;
}

Tensor Graph::get_tensor(std::string_view name, SourceLine line) const {
  if (auto tensor = find_tensor(name)) return *tensor;
  const auto op = find_operation(split_output(name).first);
  NotFound error(
      str("[graph] there is no tensor '", name, "'",
          op ? str(": operation '", op->name(), "' (", op->type(), ") has ", op->node()->outputs.size(), " outputs.")
             : str(".", did_you_mean(name, all_names(*impl_)))));
  error.add_line(line);
  throw error;
}

std::vector<Operation> Graph::operations() const {
  std::vector<Operation> list;
  for (const auto& node : impl_->nodes) list.push_back(Operation(node.get()));
  return list;
}

size_t Graph::size() const { return impl_->nodes.size(); }
void Graph::finalize() { impl_->finalized = true; }
bool Graph::is_finalized() const { return impl_->finalized; }

void Graph::set_seed(uint64_t seed, SourceLine line) {
  with_line(line, [&] {
    impl_->check_editable("set_seed");
    for (const auto& node : impl_->nodes)
      MARTELLO_CHECK(node->def->counter_input < 0, "[graph] set_seed(", seed, ") after random op '", node->name,
                     "' was made with seed ", impl_->seed, ". Set the seed first.");
  });
  impl_->seed = seed;
}
uint64_t Graph::seed() const { return impl_->seed; }
Collections& Graph::collections() const { return impl_->collections; }

}  // namespace martello
