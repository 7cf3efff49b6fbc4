#pragma once
#include <martello/graph/collections.h>
#include <martello/graph/op_def.h>
#include <martello/graph/scopes.h>
#include <martello/graph/subgraph.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace martello {

using Initializer = std::function<Tensor(Shape, DType)>;
using Regularizer = std::function<Tensor(Variable)>;

// Where a variable is listed, and so whether it is saved.
enum class VariableKind : uint8_t { global, local };
std::vector<std::string> enum_names(VariableKind);

struct VariableOptions {
  Shape shape = {};
  DType dtype = f32;
  Initializer initializer = {};  // default: glorot_uniform() for floating dtypes, zeros() for others
  Regularizer regularizer = {};  // its result joins kRegularizationLosses when the variable is made
  bool trainable = true;
  VariableKind kind = VariableKind::global;
  std::vector<CollectionKey<Variable>> collections = {};  // besides the usual ones
  bool is_counter = false;                                // see random_counter()
};

// The variable of this name in the current variable scope. Whether it is made or shared is the scope's Reuse: `no` (the
// default) makes and refuses a second one, `yes` shares and refuses a missing one, `automatic` does what fits.
Variable get_variable(Name name, VariableOptions options = {});
// A variable that is never shared: a taken name gets a suffix.
Variable raw_variable(Name name, VariableOptions options = {});
// A scalar that is not trained (a learning rate); shared when it exists.
Variable get_scalar_var(Name name, double initial);

std::vector<Variable> global_variables();
// Those whose name starts with `scope`.
std::vector<Variable> trainable_variables(std::string_view scope = "");

// Changes what get_variable does while it lives, e.g. to freeze variables or to put them elsewhere. `next` is the
// getter below; the innermost scope is asked first.
using NextGetter = std::function<Variable(const std::string& full_name, const VariableOptions& options)>;
using VariableGetter =
    std::function<Variable(const NextGetter& next, const std::string& full_name, const VariableOptions& options)>;
class VariableGetterScope {
 public:
  [[nodiscard]] explicit VariableGetterScope(VariableGetter getter);
  ~VariableGetterScope();
  VariableGetterScope(const VariableGetterScope&) = delete;
  VariableGetterScope& operator=(const VariableGetterScope&) = delete;

 private:
  internal::OpenScope open_;
};

// The counter of a random op: i64[2], runs done in the hooked and in the plain stream; saved with the variables. Inside
// a subgraph without a graph of variables around it (an initializer) a constant zero.
Tensor random_counter(const std::string& op_name);

struct VariableAttrs {
  Shape shape;
  DType dtype = f32;
  bool trainable = true;
  VariableKind kind = VariableKind::global;
  bool is_counter = false;  // of a random op: a plan that uses it advances it
  Subgraph initializer;
  bool operator==(const VariableAttrs&) const = default;
  static void fields(auto& self, auto&& f) {
    f("shape", self.shape);
    f("dtype", self.dtype);
    f("trainable", self.trainable);
    f("kind", self.kind);
    f("is_counter", self.is_counter);
    f("initializer", self.initializer);
  }
};
extern const OpDef op_variable;

}  // namespace martello
