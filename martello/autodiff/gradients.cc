#include <martello/autodiff/gradients.h>

#include <martello/autodiff/accumulate.h>
#include <martello/base/error.h>
#include <martello/graph/build_context.h>
#include <martello/ops/cast.h>
#include <martello/ops/like.h>

#include <unordered_map>

namespace martello {
namespace {

using Unconnected = GradientOptions::Unconnected;

// One call of gradients(): marks the nodes between xs and ys, then walks them backwards.
class Differentiation final : public GradientBuilder {
 public:
  Differentiation(const TensorList& ys, const TensorList& xs) : graph_(Graph::current().impl()), ys_(ys), xs_(xs) {
    std::vector<OpNode*> roots;
    for (const Tensor& y : ys) roots.push_back(y.node());
    order_ = reachable_from(graph_, roots);
    mark_paths();
  }

  void seed(const Tensor& y, const Tensor& dy) { contributions_[key(y)].push_back(dy); }

  void walk() {
    for (auto it = order_.rbegin(); it != order_.rend(); ++it)
      if (is_on_path_[index(**it)]) differentiate(**it);
  }

  // Null when nothing arrived.
  Tensor result(const Tensor& x) { return total(x); }

  TensorList gradients(const TensorList& ys, const TensorList& xs, const TensorList& dys) const override {
    return martello::gradients(ys, xs, dys, {Unconnected::null});
  }

 private:
  static size_t index(const OpNode& node) { return static_cast<size_t>(node.id); }
  static std::pair<OpNode*, int> key(const Tensor& t) { return {t.node(), t.index()}; }
  struct KeyHash {
    size_t operator()(const std::pair<OpNode*, int>& k) const {
      return std::hash<const void*>()(k.first) * 31 + static_cast<size_t>(k.second);
    }
  };

  // A node lies on a path when a floating x reaches it. Control edges carry no gradient.
  void mark_paths() {
    is_on_path_.assign(static_cast<size_t>(graph_.next_id), false);
    is_x_.assign(static_cast<size_t>(graph_.next_id), false);
    for (const Tensor& x : xs_) is_x_[index(*x.node())] = true;
    for (OpNode* node : order_) {
      bool reached = is_x_[index(*node)];
      for (const Tensor& t : node->inputs) reached = reached || needs_gradient(t);
      is_on_path_[index(*node)] = reached;
    }
  }

  bool needs_gradient(const Tensor& t) const { return is_on_path_[index(*t.node())] && is_floating(t.dtype()); }

  void differentiate(OpNode& node) {
    GradContext context{node.info(), &node.attrs, node.inputs, outputs_of(Operation(&node)), {}, {}, this};
    bool any = false;
    std::vector<Tensor> grads;
    LineScope line(node.line, LineScope::Kind::pin);
    DeviceScope device(node.device);
    for (const Tensor& y : context.outputs) {
      grads.push_back(total(y));
      any = any || !grads.back().is_null();
    }
    bool any_needed = false;
    for (const Tensor& t : node.inputs) {
      context.needed.push_back(needs_gradient(t));
      any_needed = any_needed || context.needed.back();
    }
    if (!any || !any_needed) return;
    context.grads = grads;
    NameScope scope(node.name + "_grad");
    take(node, context, call(node, context));
  }

  TensorList call(const OpNode& node, const GradContext& context) const try {
    if (node.gradient_override) return node.gradient_override->fn(context);
    if (node.def->gradient && node.def->gradient != not_differentiable) return node.def->gradient(context);
    throw InvalidArgument(str("[gradients] '", node.name, "' (", node.def->name,
                              ") is not differentiable; it lies between ", names(ys_), " and ",
                              names(xs_reaching(node)), ". Use stop_gradient() if intended."));
  } catch (Error& e) {
    e.add_line(node.line);
    throw;
  }

  void take(const OpNode& node, const GradContext& context, const TensorList& result) {
    MARTELLO_CHECK(result.size() == node.inputs.size(), "[gradients] the gradient of '", node.name, "' (",
                   node.def->name, ") gave ", result.size(), " tensors for ", node.inputs.size(),
                   " inputs: one per input, null where there is none.\n  ", node.context());
    for (size_t i = 0; i < result.size(); ++i) {
      const Tensor g = result[i], x = node.inputs[i];
      if (g.is_null() || !context.needed[i]) continue;
      MARTELLO_CHECK(g.dtype() == x.dtype(), "[gradients] the gradient of '", node.name, "' (", node.def->name,
                     ") for input ", i, " is ", g.dtype(), " but the input is ", x.dtype(), ".\n  ", node.context());
      contributions_[key(x)].push_back(summed_to(x, g, node));
    }
  }

  static Tensor summed_to(const Tensor& x, const Tensor& g, const OpNode& node) try {
    return sum_to_like(g, x);
  } catch (Error& e) {
    e.add_context(str("the gradient of '", node.name, "' (", node.def->name, ") for its input '", x.name(), "' ",
                      x.dtype(), x.shape(), " is ", g.dtype(), g.shape()));
    throw;
  }

  // All contributions to t as one tensor; computed once.
  Tensor total(const Tensor& t) {
    const auto it = contributions_.find(key(t));
    if (it == contributions_.end()) return Tensor();
    if (it->second.size() > 1) it->second = {accumulate(it->second)};
    return it->second[0];
  }

  std::vector<Tensor> xs_reaching(const OpNode& node) const {
    OpNode* target = const_cast<OpNode*>(&node);
    const auto below = reachable_from(graph_, {target});
    std::vector<Tensor> found;
    for (const Tensor& x : xs_)
      for (OpNode* n : below)
        if (n == x.node()) found.push_back(x);
    return found;
  }

  static std::string names(const TensorList& list) {
    std::vector<std::string> quoted_names;
    for (const Tensor& t : list) quoted_names.push_back(str("'", t.name(), "'"));
    return join(quoted_names);
  }

  Graph::Impl& graph_;
  const TensorList &ys_, &xs_;
  std::vector<OpNode*> order_;
  std::vector<bool> is_on_path_, is_x_;
  std::unordered_map<std::pair<OpNode*, int>, std::vector<Tensor>, KeyHash> contributions_;
};

// Nodes made while it lives belong to a backward part.
class BackwardPart {
 public:
  BackwardPart() : context_(internal::get_build_context()), previous_(context_.is_backward) {
    context_.is_backward = true;
  }
  ~BackwardPart() { context_.is_backward = previous_; }
  BackwardPart(const BackwardPart&) = delete;
  BackwardPart& operator=(const BackwardPart&) = delete;

 private:
  internal::BuildContext& context_;
  bool previous_;
};

void check_ends(const TensorList& ys, const TensorList& xs, const TensorList& grad_ys) {
  const Graph::Impl& graph = Graph::current().impl();
  const auto check = [&](const Tensor& t, const char* what) {
    MARTELLO_CHECK(!t.is_null(), "[gradients] a null Tensor among the ", what, ".");
    MARTELLO_CHECK(t.node()->graph == &graph, "[gradients] '", t.name(), "' belongs to another graph.");
    MARTELLO_CHECK(is_floating(t.dtype()), "[gradients] '", t.name(), "' is ", t.dtype(), t.shape(),
                   ": only floating tensors have gradients.");
  };
  MARTELLO_CHECK(!ys.empty(), "[gradients] no ys were given.");
  for (const Tensor& y : ys) check(y, "ys");
  for (const Tensor& x : xs) check(x, "xs");
  MARTELLO_CHECK(grad_ys.empty() || grad_ys.size() == ys.size(), "[gradients] ", grad_ys.size(), " grad_ys for ",
                 ys.size(), " ys.");
}

void check_grad_y(const Tensor& y, const Tensor& dy) {
  MARTELLO_CHECK(dy.dtype() == y.dtype() && dy.rank() == y.rank(), "[gradients] grad_y '", dy.name(), "' is ",
                 dy.dtype(), dy.shape(), " but y '", y.name(), "' is ", y.dtype(), y.shape(), ".");
  for (int i = 0; i < y.rank(); ++i)
    MARTELLO_CHECK(dy.dim(i) == kUnknown || y.dim(i) == kUnknown || dy.dim(i) == y.dim(i), "[gradients] grad_y '",
                   dy.name(), "' is ", dy.dtype(), dy.shape(), " but y '", y.name(), "' is ", y.dtype(), y.shape(),
                   ".");
}

Tensor unconnected(const Tensor& x, const TensorList& ys, Unconnected what) {
  if (what == Unconnected::null) return Tensor();
  if (what == Unconnected::zeros) return zeros_like(x);
  throw InvalidArgument(str("[gradients] '", ys[0].name(), "' does not depend on '", x.name(),
                            "'. Leave it out, or ask for GradientOptions::Unconnected::zeros.\n  ",
                            x.node()->context()));
}

}  // namespace

TensorList gradients(const TensorList& ys, const TensorList& xs, const TensorList& grad_ys, GradientOptions options,
                     Name name) {
  try {
    check_ends(ys, xs, grad_ys);
    NameScope scope(name.text());
    LineScope line(name.line());
    BackwardPart backward;
    Differentiation differentiation(ys, xs);
    for (size_t i = 0; i < ys.size(); ++i) {
      if (!grad_ys.empty() && grad_ys[i].is_null()) continue;
      if (!grad_ys.empty()) check_grad_y(ys[i], grad_ys[i]);
      differentiation.seed(ys[i], grad_ys.empty() ? ones_like(ys[i]) : grad_ys[i]);
    }
    differentiation.walk();
    TensorList results;
    for (const Tensor& x : xs) {
      const Tensor g = differentiation.result(x);
      results.push_back(g.is_null() ? unconnected(x, ys, options.unconnected) : g);
    }
    return results;
  } catch (Error& e) {
    const std::string line = LineScope::effective(name.line()).str();
    if (std::string_view(e.what()).find(line) == std::string_view::npos) e.add_context(str("in gradients() at ", line));
    throw;
  }
}

}  // namespace martello
