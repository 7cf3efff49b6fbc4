#include <martello/graph/tensor.h>

#include <martello/base/error.h>
#include <martello/graph/node.h>

namespace martello {

const std::string& Operation::name() const {
  MARTELLO_CHECK(node_, "[operation] a null Operation has no name.");
  return node_->name;
}
const char* Operation::type() const {
  MARTELLO_CHECK(node_, "[operation] a null Operation has no type.");
  return node_->def->name;
}
Graph Operation::graph() const {
  MARTELLO_CHECK(node_, "[operation] a null Operation belongs to no graph.");
  return Graph(node_->graph->shared_from_this());
}

namespace {
const NodeOutput& checked_output_of(const Tensor& t) {
  MARTELLO_CHECK(!t.is_null(), "[tensor] a null Tensor has no dtype or shape: it was never assigned.");
  return output_of(t);
}
}  // namespace

std::string Tensor::name() const { return index_ == 0 ? op_.name() : str(op_.name(), ":", index_); }
DType Tensor::dtype() const { return checked_output_of(*this).dtype; }
const Shape& Tensor::shape() const { return checked_output_of(*this).shape; }

namespace {
std::vector<std::string> names_of(const std::vector<Tensor>& tensors) {
  std::vector<std::string> names;
  for (const Tensor& t : tensors) names.push_back(t.is_null() ? "(null)" : t.name());
  return names;
}
}  // namespace

TensorList::TensorList(Tensor t) : tensors_{t} {}
TensorList::TensorList(std::initializer_list<Tensor> l) : tensors_(l) {}
TensorList::TensorList(const std::vector<Variable>& v) : tensors_(v.begin(), v.end()) {}

void TensorList::push_back(Tensor t) { tensors_.push_back(t); }

Tensor TensorList::operator[](size_t i) const {
  MARTELLO_CHECK(i < tensors_.size(), "[tensor_list] asked for tensor ", i, " of ", tensors_.size(), " (",
                 join(names_of(tensors_)), ").");
  return tensors_[i];
}

Tensor TensorList::operator[](const Name& name) const {
  for (const Tensor& t : tensors_)
    if (!t.is_null() && t.name() == name.text()) return t;
  // A tower's inputs carry its prefix; the user's name is the last part.
  for (const Tensor& t : tensors_)
    if (!t.is_null() && t.name().ends_with(str("/", name.text()))) return t;
  const auto names = names_of(tensors_);
  NotFound error(
      str("[tensor_list] no tensor '", name.text(), "' among ", join(names), ".", did_you_mean(name.text(), names)));
  error.add_line(name.line());
  throw error;
}

void TensorList::check_count(size_t n, SourceLine line) const {
  with_line(line, [&] {
    MARTELLO_CHECK(n == tensors_.size(), "[tensor_list] unpacks ", n, " tensors but holds ", tensors_.size(), " (",
                   join(names_of(tensors_)), "). Name as many.");
  });
}

}  // namespace martello
