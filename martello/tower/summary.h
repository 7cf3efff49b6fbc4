#pragma once
#include <martello/graph/collections.h>

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// What a model tells monitors about itself. Summaries are nodes in kSummaries: a callback decides when they are
// evaluated, monitors decide where they go. All of these do nothing in towers other than the main training tower, and
// names lose their tower's prefix.
namespace martello {

struct MovingSummaryOptions {
  double decay = 0.95;
  // Where the updates are listed; none: the caller runs what is returned.
  std::optional<CollectionKey<Operation>> collection = kMovingSummaryOps;
};
// Exponential moving averages of scalars, shown under the scalars' names. The average is exact from the first value on
// (its bias is divided out) and lives in a LOCAL variable EMA/<name>. Fetching a summary shows the average with this
// run's value taken in; running its update keeps it. The updates, one per scalar.
std::vector<Operation> add_moving_summary(const TensorList& scalars, MovingSummaryOptions options = {},
                                          SourceLine line = SourceLine::current());

struct TensorSummaryOptions {
  std::string name = {};  // default: the tensor's
  bool main_tower_only = true;
};
// One summary `<name>-<type>` per type: scalar (shown as `<name>`), histogram, mean, rms, norm, or sparsity, the
// fraction of zeros.
void add_tensor_summary(Tensor x, const std::vector<std::string>& types, TensorSummaryOptions options = {},
                        SourceLine line = SourceLine::current());
// As activation-summary/<name>-<type>. Says so and does nothing for tensors of less than two axes.
void add_activation_summary(Tensor x, const std::vector<std::string>& types = {"sparsity", "rms", "histogram"},
                            const std::string& name = "", SourceLine line = SourceLine::current());

// As param-summary/<variable>-<type>, for trainable variables whose whole name matches. Call it when they exist.
void add_param_summary(std::string_view regex, const std::vector<std::string>& types,
                       SourceLine line = SourceLine::current());
void add_param_summary(const std::vector<std::pair<std::string, std::vector<std::string>>>& types_of_regex,
                       SourceLine line = SourceLine::current());

}  // namespace martello
