#include <martello/base/error.h>
#include <martello/base/log.h>
#include <martello/base/name_pattern.h>
#include <martello/graph/core_ops.h>
#include <martello/ops/arg_reduce.h>
#include <martello/ops/assign.h>
#include <martello/ops/binary.h>
#include <martello/ops/cast.h>
#include <martello/ops/initializers.h>
#include <martello/ops/norms.h>
#include <martello/ops/reduce.h>
#include <martello/ops/shape.h>
#include <martello/ops/summary.h>
#include <martello/ops/unary.h>
#include <martello/tower/summary.h>
#include <martello/tower/tower_context.h>

#include <algorithm>

namespace martello {
namespace {

const std::vector<std::string> kTypes = {"scalar", "histogram", "mean", "rms", "norm", "sparsity"};

bool is_other_tower() {
  const TowerContext* tower = find_current_tower_context();
  return tower != nullptr && !tower->is_main_training_tower();
}

bool has_summary(const Graph& graph, std::string_view tag) {
  const auto entries = graph.collections().get(kSummaries);
  return std::any_of(entries.begin(), entries.end(), [&](const Tensor& t) { return summary_of(t).tag == tag; });
}

// A second summary of one tag would only overwrite the first.
void add_summary(const Graph& graph, std::string_view tag, Tensor entry) {
  if (has_summary(graph, tag)) return logger::warn("[summary '", tag, "'] exists already; the second is left out.");
  graph.collections().add(kSummaries, entry);
}

Tensor as_floating(Tensor x) { return x.dtype() == f32 || x.dtype() == f64 ? x : cast(x, f32); }

Tensor statistic(Tensor x, const std::string& type) {
  if (type == "sparsity") {
    const Tensor zeros = size(x) - count_nonzero(x);
    return cast(zeros, f32) / cast(size(x), f32);
  }
  const Tensor v = as_floating(x);
  if (type == "mean") return reduce_mean(v);
  return type == "rms" ? sqrt(reduce_mean(square(v))) : norm(v);
}

void add_one_summary(Tensor x, const std::string& name, const std::string& type) {
  MARTELLO_CHECK(std::find(kTypes.begin(), kTypes.end(), type) != kTypes.end(), "[summary '", name,
                 "'] there is no type '", type, "'; there are ", join(kTypes), ".", did_you_mean(type, kTypes));
  const Graph graph = Graph::current();
  const std::string tag = type == "scalar" ? name : str(name, "-", type);
  NameScope scope("summary");
  if (type == "scalar") add_summary(graph, tag, create_scalar_summary(tag, x));
  else if (type == "histogram") add_summary(graph, tag, create_histogram_summary(tag, x));
  else add_summary(graph, tag, create_scalar_summary(tag, statistic(x, type)));
}

void add_summaries(Tensor x, const std::string& name, const std::vector<std::string>& types) {
  for (const std::string& type : types) add_one_summary(x, name, type);
}

std::string name_of(Tensor x, const std::string& given) {
  MARTELLO_CHECK(!x.is_null(), "[summary] the tensor is null: it was never assigned.");
  return given.empty() ? without_tower_prefix(x.name()) : given;
}

// state = [sum, weight], both decaying, so that sum / weight has no bias to zero:
//   state += (1 - decay) ([x, 1] - state)
Operation add_moving_average(Tensor x, const std::string& name, const MovingSummaryOptions& options) {
  const Graph graph = Graph::current();
  if (has_summary(graph, name)) {
    logger::warn("[add_moving_summary '", name, "'] exists already; the second is left out.");
    return {};
  }
  const GraphScope root(graph);  // named after the scalar, wherever the model is built
  std::string variable = "EMA/" + name;
  std::replace(variable.begin(), variable.end(), ':', '_');  // "split:1" is no name of a node
  const Variable state = raw_variable(
      variable, {.shape = {2}, .dtype = f64, .initializer = zeros(), .trainable = false, .kind = VariableKind::local});
  const NameScope scope(state.handle().name() + "/");
  const Tensor pair =
      cast(x, f64) * constant(HostTensor::of<double>({1, 0})) + constant(HostTensor::of<double>({0, 1}));
  const Tensor step = (pair - state) * (1 - options.decay);
  const Operation update = assign_add(state, step, "update");
  const Tensor next = state + step;
  graph.collections().add(kSummaries, create_scalar_summary(name, cast(next[0] / next[1], as_floating(x).dtype())));
  if (options.collection) graph.collections().add(*options.collection, update);
  return update;
}

}  // namespace

std::vector<Operation> add_moving_summary(const TensorList& scalars, MovingSummaryOptions options, SourceLine line) {
  return with_line(line, [&] {
    std::vector<Operation> updates;
    MARTELLO_CHECK(options.decay >= 0 && options.decay < 1, "[add_moving_summary] decay is ", options.decay,
                   "; it must lie in [0, 1).");
    for (const Tensor& x : scalars) {
      MARTELLO_CHECK(!x.is_null(), "[add_moving_summary] a tensor is null: it was never assigned.");
      MARTELLO_CHECK(x.rank() == 0, "[add_moving_summary '", x.name(), "'] takes scalars, not ", x.shape(),
                     ". Reduce it: reduce_mean(x).");
    }
    if (is_other_tower()) return updates;
    if (VariableScope::current_reuse() == Reuse::yes) {
      logger::warn("[add_moving_summary] does nothing where variables are reused: its averages are variables.");
      return updates;
    }
    for (const Tensor& x : scalars) {
      const Operation update = add_moving_average(x, without_tower_prefix(x.name()), options);
      if (!update.is_null()) updates.push_back(update);
    }
    return updates;
  });
}

void add_tensor_summary(Tensor x, const std::vector<std::string>& types, TensorSummaryOptions options,
                        SourceLine line) {
  with_line(line, [&] {
    const std::string name = name_of(x, options.name);
    if (options.main_tower_only && is_other_tower()) return;
    add_summaries(x, name, types);
  });
}

void add_activation_summary(Tensor x, const std::vector<std::string>& types, const std::string& name, SourceLine line) {
  with_line(line, [&] {
    const std::string shown = name_of(x, name);
    if (is_other_tower()) return;
    if (x.rank() < 2) return logger::warn("[add_activation_summary '", shown, "'] takes no ", x.shape(), ".");
    add_summaries(x, "activation-summary/" + shown, types);
  });
}

void add_param_summary(const std::vector<std::pair<std::string, std::vector<std::string>>>& types_of_regex,
                       SourceLine line) {
  with_line(line, [&] {
    for (const auto& [regex, types] : types_of_regex) {
      const NamePattern pattern(regex, "add_param_summary");
      if (is_other_tower()) continue;
      bool is_matched = false;
      for (const Variable& v : trainable_variables()) {
        const std::string name = without_tower_prefix(v.handle().name());
        if (!pattern.matches(name)) continue;
        is_matched = true;
        add_summaries(v, "param-summary/" + name, types);
      }
      if (!is_matched) logger::warn("[add_param_summary] no trainable variable matches '", regex, "'.");
    }
  });
}

void add_param_summary(std::string_view regex, const std::vector<std::string>& types, SourceLine line) {
  add_param_summary({{std::string(regex), types}}, line);
}

}  // namespace martello
