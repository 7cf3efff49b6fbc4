#include <martello/base/error.h>
#include <martello/graph/node.h>
#include <martello/ops/broadcast.h>
#include <martello/ops/summary.h>

namespace martello {

Kernel identity_cpu(const KernelPlan&);  // identity_cpu.cc

namespace {

void check_shape(const ShapeContext& c, SummaryKind kind) {
  const Shape& s = c.in[0].shape;
  if (kind == SummaryKind::scalar)
    MARTELLO_CHECK(s.rank() == 0, "[summary '", c.op.name, "'] a scalar is asked for, but x is ", s,
                   ". Reduce it, or make a histogram.");
  if (kind != SummaryKind::image) return;
  const bool has_channels = s.rank() == 4 && (s[3] == 1 || s[3] == 3 || s[3] == 4 || s[3] == kUnknown);
  MARTELLO_CHECK(has_channels, "[summary '", c.op.name, "'] images are [N, H, W, 1 | 3 | 4], but x is ", s, ".");
}

Tensor create(std::string_view tag, Operand x, SummaryKind kind, Name name) {
  return with_line(name.line(), [&] {
    MARTELLO_CHECK(!tag.empty(), "[summary '", name.text(), "'] has no tag: monitors need a name to show it under.");
    return add_op(op_summary, {x}, SummaryAttrs{std::string(tag), kind}, name);
  });
}

// The length of "tower12/" at the front of `text`; 0 when it does not begin like that.
size_t tower_prefix(std::string_view text) {
  constexpr std::string_view kTower = "tower";
  if (!text.starts_with(kTower)) return 0;
  const size_t end = text.find_first_not_of("0123456789", kTower.size());
  const bool is_tower = end != std::string_view::npos && end > kTower.size() && text[end] == '/';
  return is_tower ? end + 1 : 0;
}

}  // namespace

std::vector<std::string> enum_names(SummaryKind) { return {"scalar", "histogram", "image"}; }

constinit const OpDef op_summary = {
    .name = "summary",
    .doc = "y = x, which monitors show as `tag`: a scalar, a histogram of all elements, or images [N, H, W, C]",
    .inputs = {"x"},
    .outputs = {"y"},
    .attrs = &attrs_type<SummaryAttrs>,
    .shape =
        [](const ShapeContext& c) {
          check_shape(c, c.attrs<SummaryAttrs>().kind);
          return same_shape(c);
        },
    // dx = dy
    .gradient = [](const GradContext& c) { return TensorList{c.grad(0)}; },
    .cpu = identity_cpu,
    .in_place = {{{0, 0}}},
    .is_alias = true,
    .rows = Rows::same,
    .family = "Control and state",
};

Tensor create_scalar_summary(std::string_view tag, Operand x, Name name) {
  return create(tag, x, SummaryKind::scalar, name);
}
Tensor create_histogram_summary(std::string_view tag, Operand x, Name name) {
  return create(tag, x, SummaryKind::histogram, name);
}
Tensor create_image_summary(std::string_view tag, Operand x, Name name) {
  return create(tag, x, SummaryKind::image, name);
}

Summary summary_of(Tensor entry) {
  MARTELLO_CHECK(!entry.is_null(), "[summary] an entry of the summaries is null: it was never assigned.");
  const OpNode& node = *entry.node();
  if (node.def == &op_summary) {
    const auto& attrs = node.attrs.get<SummaryAttrs>();
    return {attrs.tag, attrs.kind, node.inputs[0]};
  }
  MARTELLO_CHECK(entry.rank() == 0, "[summary '", entry.name(), "'] is ", entry.shape(),
                 "; only a scalar goes into the summaries as it is. Use create_histogram_summary() or "
                 "create_image_summary().");
  return {without_tower_prefix(entry.name()), SummaryKind::scalar, entry};
}

std::string without_tower_prefix(std::string_view name) {
  std::string out;
  while (!name.empty()) {
    const size_t prefix = tower_prefix(name);
    const size_t slash = name.find('/');
    const size_t part = prefix != 0 ? prefix : slash == std::string_view::npos ? name.size() : slash + 1;
    if (prefix == 0) out += name.substr(0, part);
    name.remove_prefix(part);
  }
  return out;
}

}  // namespace martello
