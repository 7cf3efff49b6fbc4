#include <martello/models/layer.h>

#include <martello/base/error.h>
#include <martello/base/log.h>
#include <martello/graph/build_context.h>
#include <martello/ops/identity.h>
#include <martello/tower/tower_context.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <set>

namespace martello {

std::optional<Variable> LayerVariables::find(std::string_view name) const {
  const auto it = std::find_if(items_.begin(), items_.end(), [&](const Item& i) { return i.name == name; });
  return it == items_.end() ? std::nullopt : std::optional(it->variable);
}

Variable LayerVariables::operator[](std::string_view name) const {
  if (const auto found = find(name)) return *found;
  std::vector<std::string> names;
  for (const Item& item : items_) names.push_back(item.name);
  throw NotFound(
      str("[layer '", layer_, "'] has no variable '", name, "', only: ", join(names), ".", did_you_mean(name, names)));
}

LayerOutput::LayerOutput(Tensor y, LayerVariables variables)
    : Tensor(y), variables_(std::make_shared<const LayerVariables>(std::move(variables))) {}

const LayerVariables& LayerOutput::variables() const {
  static const LayerVariables none;
  return variables_ ? *variables_ : none;
}

namespace {

std::atomic<bool> is_logging = true;
thread_local std::vector<LayerScope*> building;  // layers whose bodies run, outer first

struct Building {
  explicit Building(LayerScope& layer) { building.push_back(&layer); }
  ~Building() { building.pop_back(); }
  Building(const Building&) = delete;
  Building& operator=(const Building&) = delete;
};

// True the first time for a scope of a graph.
bool is_first_log(const std::string& scope) {
  using Key = std::weak_ptr<Graph::Impl>;
  static std::mutex mutex;
  static std::map<Key, std::set<std::string>, std::owner_less<Key>> logged;
  const std::lock_guard lock(mutex);
  std::erase_if(logged, [](const auto& entry) { return entry.first.expired(); });
  return logged[internal::get_build_context().graph->weak_from_this()].insert(scope).second;
}

void log_shapes(const Tensor& x, const Tensor& y) {
  const TowerContext* tower = find_current_tower_context();
  const std::string full = VariableScope::current_name();
  const std::string scope = tower ? tower->without_tower(full) : full;
  if (is_logging && is_first_log(scope))
    logger::info(std::string(building.size() * 2, ' '), "'", scope, "': ", x.shape(), " --> ", y.shape());
}

void check_call(const LayerCall& call) {
  const std::string where = str("[", call.type, " ", quoted(call.name), "] ");
  MARTELLO_CHECK(!call.name.empty(), where, "a layer's name is not empty: its variables are found by it.");
  MARTELLO_CHECK(call.name.find("tower") == std::string_view::npos, where,
                 "a layer's name may not contain \"tower\": that word marks the copies of a model.");
  MARTELLO_CHECK(!call.input.is_null(), where, "its input is a null Tensor: it was never assigned.");
}

Tensor named(Tensor y, const LayerCall& call, const LayerScope& layer) {
  MARTELLO_CHECK(!y.is_null(), layer.where(), "gives a null Tensor. Return the layer's result.");
  return call.output ? identity(y, call.output) : y;
}

LayerOutput build_inside(const LayerCall& call, const std::function<LayerOutput(LayerScope&)>& build) {
  check_call(call);
  VariableScope variables(call.name);
  NameScope names(call.name);
  LayerScope layer(call);
  try {
    return build(layer);
  } catch (Error& e) {
    if (std::string_view(e.what()).find(layer.where()) == std::string_view::npos)
      e.add_context(str("in layer ", std::string_view(layer.where()).substr(0, layer.where().size() - 1)));
    throw;
  }
}

}  // namespace

LayerScope::LayerScope(const LayerCall& call) {
  variables_.layer_ = VariableScope::current_name();
  where_ = str("[", call.type, " '", variables_.layer_, "'] ");
}

Variable LayerScope::variable(std::string_view name, VariableOptions options) {
  MARTELLO_CHECK(!options.trainable || options.dtype == f32 || options.dtype == f64, where_, "x is ", options.dtype,
                 ", and so would be '", name,
                 "', which is to be trained. Give the layer numbers of f32 or f64: cast(x, f32).");
  const Variable v = get_variable(name, std::move(options));
  add(std::string(name), v);
  return v;
}

void LayerScope::add(const std::string& name, Variable v) {
  if (!variables_.find(name)) variables_.items_.push_back({name, v});
}

void LayerScope::add_inner(const LayerVariables& inner) {
  const std::string outer = variables_.layer_ + "/";
  if (!inner.layer_.starts_with(outer)) return;  // of another graph
  for (const auto& [name, v] : inner) add(str(inner.layer_.substr(outer.size()), "/", name), v);
}

void LayerScope::check_rank(const Tensor& x, std::initializer_list<int> ranks) const {
  std::vector<std::string> allowed;
  for (int r : ranks) allowed.push_back(str(r));
  MARTELLO_CHECK(std::find(ranks.begin(), ranks.end(), x.rank()) != ranks.end(), where_, "x ", x.shape(), " has ",
                 x.rank(), " dimensions, the layer takes ", join(allowed, " or "), ".");
}

int64_t LayerScope::known_dim(const Tensor& x, int axis, const char* what) const {
  const int64_t size = x.dim(axis);
  MARTELLO_CHECK(size != kUnknown, where_, "the number of ", what, " of x ", x.shape(), " (axis ", axis,
                 ") is unknown, so its variables have no size. Give the input a known size there.");
  MARTELLO_CHECK(size > 0, where_, "x ", x.shape(), " has no ", what, " (axis ", axis, ").");
  return size;
}

void LayerScope::check_positive(const char* option, int64_t value) const {
  MARTELLO_CHECK(value > 0, where_, option, " is ", value, ". Set .", option, " to a number greater than 0",
                 value == 0 ? ", in the call or in an ArgScope." : ".");
}

LayerOutput build_layer(const LayerCall& call, const std::function<Tensor(LayerScope&)>& body) {
  return with_line(call.line, [&] {
    internal::get_build_context(call.type, call.name);
    return build_inside(call, [&](LayerScope& layer) {
      Tensor y;
      {
        const Building inside(layer);
        y = named(body(layer), call, layer);
      }
      if (!building.empty()) building.back()->add_inner(layer.variables_);
      if (call.logs_shape) log_shapes(call.input, y);
      return LayerOutput(y, layer.variables_);
    });
  });
}

void disable_layer_logging() { is_logging = false; }
void enable_layer_logging() { is_logging = true; }

}  // namespace martello
