// Images whose channels come first, where a convolution takes them, are turned once and stay turned from op to op:
//   %y = conv2d(%x, %w) {data_format=nchw}  %z = relu(%y)
//     =>  %l = transpose(%x) {perm=[0, 2, 3, 1]}  %y = conv2d(%l, %w)  %z = relu(%y)
// and whoever else reads %z finds it as it was: transpose(%z) {perm=[0, 3, 1, 2]}.
#include <martello/graph/core_ops.h>
#include <martello/ops/internal/channels_last.h>
#include <martello/ops/internal/permutation.h>
#include <martello/ops/reshape.h>
#include <martello/ops/transpose.h>
#include <martello/passes/internal/rewrite.h>

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

namespace martello {
namespace {

using internal::kFirstFromLast;
using internal::kLastFromFirst;

std::vector<int> as_list(const std::array<int, 4>& perm) { return {perm.begin(), perm.end()}; }

bool is_transposed_by(const OpNode& node, const std::array<int, 4>& perm) {
  return node.def == &op_transpose && node.inputs[0].rank() == 4 &&
         internal::full_permutation(node.attrs.get<TransposeAttrs>().perm, 4) == as_list(perm);
}

// Numbers that lie the same either way.
bool lies_alike(const Shape& first) { return first[1] == 1 || first[2] * first[3] == 1; }

class ChannelsLastPass {
 public:
  explicit ChannelsLastPass(PlanGraph& plan) : plan_(plan), rewrite_(plan) {
    for (const Operation& target : plan.targets) pinned_.insert(target.node());
    for (const auto& node : plan.impl().nodes)
      for (OpNode* before : node->controls) pinned_.insert({before, node.get()});
  }

  bool run() {
    for (OpNode* node : topological_order(plan_.impl())) visit(*node);
    if (last_.empty()) return false;
    for (Tensor& t : plan_.fetches) t = as_it_was(t);
    return true;
  }

 private:
  // The node is turned, or finds its inputs as they were.
  void visit(OpNode& node) {
    const auto last = find_turned(node);
    if (!last) {
      for (Tensor& t : node.inputs) t = as_it_was(t);
      return;
    }
    if (last->sizes >= 0) node.inputs.resize(std::min(node.inputs.size(), static_cast<size_t>(last->sizes)));
    const auto is_image = [&](size_t i) {
      return std::find(last->inputs.begin(), last->inputs.end(), static_cast<int>(i)) != last->inputs.end();
    };
    const bool broadcasts = node.def->formula != nullptr;
    for (size_t i = 0; i < node.inputs.size(); ++i)
      node.inputs[i] = is_image(i) ? turned(node.inputs[i], broadcasts) : as_it_was(node.inputs[i]);
    node.attrs = last->attrs;
    for (int i : last->outputs) last_[{&node, i}] = node.outputs[static_cast<size_t>(i)].shape;
    plan_.impl().infer(node);
  }

  // Where the node is to be turned. An op that gains by it is always, another one only with what it reads.
  std::optional<ChannelsLast> find_turned(OpNode& node) {
    const auto is_known = [](const NodeOutput& o) { return o.shape.is_known(); };
    if (pinned_.contains(&node) || !std::all_of(node.outputs.begin(), node.outputs.end(), is_known)) return {};
    const bool reads_turned =
        std::any_of(node.inputs.begin(), node.inputs.end(), [&](const Tensor& t) { return is_turned(t); });
    auto last = node.def->formula && node.outputs[0].shape.rank() == 4 && internal::is_pure(node) ? elementwise(node)
                : node.def->channels_last                                                         ? by_definition(node)
                                                                                                  : std::nullopt;
    return last && (last->gains || (reads_turned && reads_images(node, *last))) ? last : std::nullopt;
  }

  // Of the shapes as they were.
  std::optional<ChannelsLast> by_definition(const OpNode& node) const {
    std::vector<TensorSpec> in, out;
    for (const Tensor& t : node.inputs) {
      if (!t.shape().is_known()) return std::nullopt;
      in.push_back({shape_as_it_was(t), t.dtype()});
    }
    for (const NodeOutput& o : node.outputs) out.push_back({o.shape, o.dtype});
    return node.def->channels_last(in, out, node.attrs);
  }

  static std::optional<ChannelsLast> elementwise(const OpNode& node) {
    ChannelsLast last{.attrs = node.attrs, .outputs = {0}};
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      if (!node.inputs[i].shape().is_known()) return std::nullopt;
      if (node.inputs[i].rank() > 0) last.inputs.push_back(static_cast<int>(i));
    }
    return last;
  }

  bool reads_images(const OpNode& node, const ChannelsLast& last) const {
    return std::any_of(last.inputs.begin(), last.inputs.end(),
                       [&](int i) { return is_turned(node.inputs[static_cast<size_t>(i)]); });
  }

  bool is_turned(const Tensor& t) const { return last_.contains({t.node(), t.index()}); }
  Shape shape_as_it_was(const Tensor& t) const {
    const auto found = last_.find({t.node(), t.index()});
    return found == last_.end() ? t.shape() : found->second;
  }

  // t with its channels last. What broadcasts may have fewer than four dimensions, then and now.
  Tensor turned(Tensor t, bool broadcasts) {
    if (is_turned(t)) return t;
    if (is_transposed_by(*t.node(), kFirstFromLast)) return t.node()->inputs[0];
    Tensor& made = (broadcasts ? turned_rows_ : turned_)[{t.node(), t.index()}];
    if (made.is_null()) made = make_turned(t, broadcasts);
    return made;
  }
  Tensor make_turned(Tensor t, bool broadcasts) {
    std::vector<int64_t> sizes(static_cast<size_t>(4 - t.rank()), 1);
    for (int i = 0; i < t.rank(); ++i) sizes.push_back(t.dim(i));
    if (!lies_alike(Shape(sizes)))
      return transposed(reshaped(t, Shape(sizes), "images"), kLastFromFirst, "channels_last");
    std::vector<int64_t> dims = internal::with_channels_last(sizes);
    while (broadcasts && dims.size() > 1 && dims[0] == 1) dims.erase(dims.begin());  // channels alone: a bias
    return reshaped(t, Shape(dims), "channels_last");
  }

  Tensor as_it_was(Tensor t) {
    if (!is_turned(t)) return t;
    Tensor& made = turned_back_[{t.node(), t.index()}];
    if (!made.is_null()) return made;
    const Shape first = shape_as_it_was(t);
    made = lies_alike(first) ? reshaped(t, first, "channels_first") : transposed(t, kFirstFromLast, "channels_first");
    return made;
  }

  Tensor transposed(Tensor t, const std::array<int, 4>& perm, const char* suffix) {
    return rewrite_.add(*t.node(), suffix, op_transpose, {t}, Attrs(TransposeAttrs{as_list(perm)}));
  }
  Tensor reshaped(Tensor t, const Shape& shape, const char* suffix) {
    if (t.shape() == shape) return t;
    return rewrite_.add(*t.node(), suffix, op_reshape, {t}, Attrs(ReshapeAttrs{shape}));
  }

  struct Hash {
    size_t operator()(const std::pair<const OpNode*, int>& t) const {
      return std::hash<const void*>()(t.first) * 31 + static_cast<size_t>(t.second);
    }
  };
  template <class T>
  using ByTensor = std::unordered_map<std::pair<const OpNode*, int>, T, Hash>;

  PlanGraph& plan_;
  internal::Rewrite rewrite_;
  std::unordered_set<const OpNode*> pinned_;             // control edges, targets
  ByTensor<Shape> last_;                                 // tensors that are turned, with their shape as it was
  ByTensor<Tensor> turned_, turned_rows_, turned_back_;  // made for readers
};

}  // namespace

// What it made is folded and simplified at once, also where those passes are switched off: a constant beside images is
// turned once, not in every run.
bool channels_last(PlanGraph& plan) {
  if (!ChannelsLastPass(plan).run()) return false;
  fold_constants(plan);
  simplify(plan);
  return true;
}

}  // namespace martello
