#include <martello/ops/variable.h>

#include <martello/base/error.h>
#include <martello/graph/build_context.h>
#include <martello/graph/core_ops.h>
#include <martello/ops/initializers.h>

namespace martello {

std::vector<std::string> enum_names(VariableKind) { return {"global", "local"}; }

namespace {
// Text may hold any; none is fine for a variable that is set before it is used.
void check_initializer(const ShapeContext& c, const VariableAttrs& a) {
  if (a.initializer.is_null()) return;
  const TensorList& outputs = a.initializer.outputs();
  MARTELLO_CHECK(outputs.size() == 1 && a.initializer.inputs().empty(), c.where(),
                 "an initializer gives 1 tensor of 0 ", "inputs, this one ", outputs.size(), " of ",
                 a.initializer.inputs().size(), ".");
  MARTELLO_CHECK(outputs[0].dtype() == a.dtype && outputs[0].shape() == a.shape, c.where(), "is ", a.dtype, a.shape,
                 " but its initializer gives ", outputs[0].dtype(), outputs[0].shape(), ". They must be equal.");
}
}  // namespace

constinit const OpDef op_variable = {
    .name = "variable",
    .doc = "y = a value that lives across runs, as it was at the start of the run",
    .outputs = {"y"},
    .attrs = &attrs_type<VariableAttrs>,
    .shape =
        [](const ShapeContext& c) {
          const auto& a = c.attrs<VariableAttrs>();
          MARTELLO_CHECK(a.shape.is_known(), c.where(), "a variable needs a known shape, got ", a.shape,
                         ". Give every dimension a size.");
          check_initializer(c, a);
          return std::vector<TensorSpec>{{a.shape, a.dtype}};
        },
    .gradient = no_gradient,
    .effect = Effect::variable,
    .family = "Control and state",
};

namespace {

// The error of an initializer says whose it is.
BuiltSubgraph build_named(const std::string& name, const std::function<TensorList(TensorList)>& build) try {
  return build_subgraph({}, build);
} catch (Error& e) {
  e.add_context(str("in the initializer of variable '", name, "'"));
  throw;
}

Subgraph build_initializer(const std::string& name, const VariableOptions& options) {
  const Initializer init = options.initializer          ? options.initializer
                           : is_floating(options.dtype) ? glorot_uniform()
                                                        : zeros();
  const auto built = build_named(name, [&](TensorList) {
    internal::get_build_context().graph->is_initializer = true;
    NameScope scope(name + "/initializer");
    const Tensor value = init(options.shape, options.dtype);
    MARTELLO_CHECK(!value.is_null(), "[get_variable '", name,
                   "'] its initializer gives a null Tensor. Return a value of ", options.dtype, options.shape, ".");
    return TensorList{value};
  });
  MARTELLO_CHECK(built.captures.empty(), "[get_variable '", name, "'] its initializer uses tensor '",
                 built.captures[0].name(),
                 "' of the graph. An initializer builds its value from constants and random "
                 "ops only.");
  const Tensor value = built.body.outputs()[0];
  MARTELLO_CHECK(value.dtype() == options.dtype && value.shape() == options.shape, "[get_variable '", name,
                 "'] asked for ", options.dtype, options.shape, " but its initializer gives ", value.dtype(),
                 value.shape(), ".");
  return built.body;
}

void list_variable(Graph::Impl& graph, const Variable& v, const VariableOptions& options) {
  auto& lists = graph.collections;
  lists.add(options.kind == VariableKind::global ? kGlobalVariables : kLocalVariables, v);
  if (options.trainable) lists.add(kTrainableVariables, v);
  for (const auto& key : options.collections) lists.add(key, v);
}

void check_options(const std::string& name, const VariableOptions& options) {
  for (int64_t d : options.shape.symbolic())
    MARTELLO_CHECK(d >= 0, "[get_variable '", name, "'] a variable needs a known shape, got ", options.shape,
                   ". Give every dimension a size.");
  MARTELLO_CHECK(!options.trainable || is_floating(options.dtype), "[get_variable '", name, "'] of dtype ",
                 options.dtype, " cannot be trainable. Use .trainable = false.");
}

Variable make_variable(const std::string& unique_name, const VariableOptions& options, SourceLine line) {
  auto& context = internal::get_build_context();
  Graph::Impl& graph = context.graph->root();
  check_options(unique_name, options);
  OpNode* node = graph.add(op_variable, {},
                           Attrs(VariableAttrs{options.shape, options.dtype, options.trainable, options.kind,
                                               options.is_counter, build_initializer(unique_name, options)}),
                           unique_name, line);
  node->device = context.device;
  const Variable v(node->output(0));
  list_variable(graph, v, options);
  if (options.regularizer) {
    std::optional<GraphScope> outside;  // a body has no losses
    if (context.graph.get() != &graph) outside.emplace(Graph(graph.shared_from_this()));
    NameScope scope(unique_name + "/regularizer");
    const Tensor loss = options.regularizer(v);
    MARTELLO_CHECK(!loss.is_null(), "[get_variable '", unique_name,
                   "'] its regularizer gives a null Tensor. Leave it out when there is nothing to add.");
    graph.collections.add(kRegularizationLosses, loss);
  }
  return v;
}

void check_shared(const std::string& name, const OpNode& node, const VariableOptions& options) {
  MARTELLO_CHECK(node.def == &op_variable, "[get_variable '", name, "'] this name belongs to a ", node.def->name,
                 " node. Use another name.");
  const auto& a = node.attrs.get<VariableAttrs>();
  MARTELLO_CHECK(a.shape == options.shape && a.dtype == options.dtype, "[get_variable '", name, "'] exists with ",
                 a.dtype, a.shape, ", asked for ", options.dtype, options.shape,
                 ". Use another variable scope or name.\n  first made ", node.context());
}

Variable get_or_make(const std::string& name, const VariableOptions& options, Reuse reuse, SourceLine line) {
  Graph::Impl& graph = internal::get_build_context().graph->root();
  const auto it = graph.by_name.find(name);
  if (it == graph.by_name.end()) {
    if (reuse == Reuse::yes) {
      std::vector<std::string> names;
      for (const Variable& v : graph.collections.get(kGlobalVariables)) names.push_back(v.handle().name());
      throw NotFound(str("[get_variable '", name, "'] does not exist, and the scope says reuse=yes.",
                         did_you_mean(name, names), " Make it first, or use Reuse::automatic."));
    }
    return make_variable(name, options, line);
  }
  MARTELLO_CHECK(reuse != Reuse::no, "[get_variable '", name, "'] exists already (made ", it->second->context(),
                 "), and the scope says reuse=no. Use another variable scope, or Reuse::yes to share it.");
  check_shared(name, *it->second, options);
  return Variable(it->second->output(0));
}

std::string full_name(std::string_view name) {
  const std::string scope = VariableScope::current_name();
  return scope.empty() ? std::string(name) : scope + "/" + std::string(name);
}

Variable ask_getters(size_t remaining, const std::string& name, const VariableOptions& options, SourceLine line) {
  const auto& getters = internal::get_build_context().variable_getters;
  if (remaining == 0) return get_or_make(name, options, VariableScope::current_reuse(), line);
  const auto getter = std::static_pointer_cast<const VariableGetter>(getters[remaining - 1]);
  return (*getter)(
      [&](const std::string& n, const VariableOptions& o) { return ask_getters(remaining - 1, n, o, line); }, name,
      options);
}

void check_variable_name(Name name) {
  MARTELLO_CHECK(!name.text().empty() && name.text().find_first_of(": \t\n\"%") == std::string_view::npos,
                 "[get_variable ", quoted(name.text()),
                 "] a variable's name is not empty and has no blank, colon, quote or percent sign.");
}

}  // namespace

Variable get_variable(Name name, VariableOptions options) {
  const SourceLine line = LineScope::effective(name.line());
  return with_line(line, [&] {
    const auto& context = internal::get_build_context("get_variable", name.text());
    check_variable_name(name);
    const Variable v = ask_getters(context.variable_getters.size(), full_name(name.text()), options, line);
    MARTELLO_CHECK(
        !v.handle().is_null() && !v.is_null(), "[get_variable '", full_name(name.text()),
        "'] the getter of a VariableGetterScope gave a null Variable. Return what next() gives, or another one.");
    return v;
  });
}

Variable raw_variable(Name name, VariableOptions options) {
  const SourceLine line = LineScope::effective(name.line());
  return with_line(line, [&] {
    Graph::Impl& graph = internal::get_build_context("raw_variable", name.text()).graph->root();
    check_variable_name(name);
    return make_variable(graph.unique_name(full_name(name.text())), options, line);
  });
}

Variable get_scalar_var(Name name, double initial) {
  VariableOptions options{.initializer = constant_init(initial), .trainable = false};
  const SourceLine line = LineScope::effective(name.line());
  return with_line(line, [&] {
    internal::get_build_context("get_scalar_var", name.text());
    check_variable_name(name);
    return get_or_make(full_name(name.text()), options, Reuse::automatic, line);
  });
}

std::vector<Variable> global_variables() { return Graph::current().collections().get(kGlobalVariables); }

std::vector<Variable> trainable_variables(std::string_view scope) {
  std::vector<Variable> list;
  for (const Variable& v : Graph::current().collections().get(kTrainableVariables))
    if (v.handle().name().starts_with(scope)) list.push_back(v);
  return list;
}

VariableGetterScope::VariableGetterScope(VariableGetter getter) {
  internal::get_build_context("variable_getter_scope")
      .variable_getters.push_back(std::make_shared<const VariableGetter>(std::move(getter)));
  open_ = internal::OpenScope("variable_getter_scope", "");
}
VariableGetterScope::~VariableGetterScope() {
  if (auto* context = open_.close()) context->variable_getters.pop_back();
}

Tensor random_counter(const std::string& op_name) {
  // Random ops of an initializer draw from run 0, whatever has run since.
  if (internal::get_build_context().graph->is_inside_initializer()) return constant(HostTensor({2}, i64), "counter");
  VariableOptions options{.shape = {2},
                          .dtype = i64,
                          .initializer = zeros(),
                          .trainable = false,
                          .kind = VariableKind::local,
                          .is_counter = true};
  Graph::Impl& graph = internal::get_build_context().graph->root();
  return make_variable(graph.unique_name(op_name + "/counter"), options, LineScope::effective({}));
}

}  // namespace martello
