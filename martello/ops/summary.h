#pragma once
#include <martello/graph/op_def.h>

#include <string>
#include <string_view>

namespace martello {

enum class SummaryKind : uint8_t { scalar, histogram, image };
std::vector<std::string> enum_names(SummaryKind);

struct SummaryAttrs {
  std::string tag = {};
  SummaryKind kind = SummaryKind::scalar;
  bool operator==(const SummaryAttrs&) const = default;
  static void fields(auto& self, auto&& f) {
    f("tag", self.tag);
    f("kind", self.kind);
  }
};

// Values with the name under which monitors show them: y = x. In kSummaries it is put to the monitors whenever
// summaries are due; add_tensor_summary() and its kin (tower/summary.h) put it there.
Tensor create_scalar_summary(std::string_view tag, Operand x, Name name = "summary");
Tensor create_histogram_summary(std::string_view tag, Operand x, Name name = "summary");
// [N, H, W, 1 | 3 | 4] with values in 0 ... 255.
Tensor create_image_summary(std::string_view tag, Operand x, Name name = "summary");
extern const OpDef op_summary;

// What an entry of kSummaries stands for: a summary node, or a scalar tensor of any other op, shown under its name.
struct Summary {
  std::string tag;
  SummaryKind kind = SummaryKind::scalar;
  Tensor value;
};
Summary summary_of(Tensor entry);

// `name` without every "tower0/", "tower1/" ... in it.
std::string without_tower_prefix(std::string_view name);

}  // namespace martello
