#include <martello/base/error.h>
#include <martello/graph/node.h>
#include <martello/runtime/internal/session_impl.h>

#include <algorithm>

namespace martello {
namespace {

constexpr size_t kMostKnown = 8;

void check_feed(const Tensor& to, const HostTensor& value) {
  MARTELLO_CHECK(value.dtype() == to.dtype(), "[feed '", to.name(), "'] is ", to.dtype(), to.shape(),
                 " but the value fed is ", value.dtype(), value.shape(), ".\n  ", to.node()->context());
  bool agrees = value.shape().rank() == to.rank();
  for (int i = 0; agrees && i < to.rank(); ++i) agrees = to.dim(i) == kUnknown || to.dim(i) == value.shape()[i];
  MARTELLO_CHECK(agrees, "[feed '", to.name(), "'] is ", to.dtype(), to.shape(), " but the value fed is ",
                 value.dtype(), value.shape(), ".\n  ", to.node()->context());
}

std::string names_of(const std::vector<Tensor>& tensors) {
  std::vector<std::string> names;
  for (const Tensor& t : tensors) names.push_back(str("'", t.name(), "'"));
  return join(names);
}

bool have_shapes(const HostTensors& feeds, const std::vector<Shape>& shapes) {
  return std::equal(feeds.begin(), feeds.end(), shapes.begin(), shapes.end(),
                    [](const HostTensor& t, const Shape& s) { return t.shape() == s; });
}

}  // namespace

void PreparedRun::feed(size_t i, const HostTensor& value) {
  MARTELLO_CHECK(impl_, "[prepared_run] was not made by Session::prepare().");
  MARTELLO_CHECK(i < impl_->feeds.size(), "[prepared_run] feed ", i, " of ", impl_->feeds.size(),
                 " that were prepared (", names_of(impl_->signature.feeds), ").");
  check_feed(impl_->signature.feeds[i], value);
  impl_->feeds[i] = value;
  impl_->is_fed[i] = true;
}

void PreparedRun::run() {
  MARTELLO_CHECK(impl_, "[prepared_run] was not made by Session::prepare().");
  impl_->run();
}

const HostTensor& PreparedRun::value(size_t i) const {
  MARTELLO_CHECK(impl_, "[prepared_run] was not made by Session::prepare().");
  MARTELLO_CHECK(i < impl_->signature.position.size(), "[prepared_run] value ", i, " of ",
                 impl_->signature.position.size(), " that were prepared (", names_of(impl_->signature.fetches), ").");
  const int position = impl_->signature.position[i];
  return position < 0 ? impl_->nothing : impl_->outputs[static_cast<size_t>(position)];
}

bool PreparedRun::was_skipped() const {
  MARTELLO_CHECK(impl_, "[prepared_run] was not made by Session::prepare().");
  return impl_->was_skipped;
}

const Plan& PreparedRun::Impl::plan() {
  for (size_t i = 0; i < known.size(); ++i) {
    if (!have_shapes(feeds, known[i].shapes)) continue;
    if (i > 0)
      std::rotate(known.begin(), known.begin() + static_cast<std::ptrdiff_t>(i),
                  known.begin() + static_cast<std::ptrdiff_t>(i) + 1);
    return *known[0].plan;
  }
  for (size_t i = 0; i < feeds.size(); ++i)
    MARTELLO_CHECK(is_fed[i], "[feed '", signature.feeds[i].name(),
                   "'] was named when the run was prepared but has no "
                   "value. Call feed(",
                   i, ", value) before run().\n  ", signature.feeds[i].node()->context());
  std::vector<Shape> shapes;
  for (const HostTensor& t : feeds) shapes.push_back(t.shape());
  auto made = session->get_plan(signature, shapes);
  if (known.size() == kMostKnown) known.pop_back();
  known.insert(known.begin(), {std::move(shapes), std::move(made)});
  return *known[0].plan;
}

void PreparedRun::Impl::run(RunTrace* trace) {
  was_skipped = !session->execute(plan(), feeds.data(), outputs, {stream, trace, timeout_seconds});
  if (was_skipped) session->report_skip(signature, feeds.data(), stream);
}

}  // namespace martello
