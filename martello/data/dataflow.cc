#include <martello/base/error.h>
#include <martello/data/dataflow.h>

#include <cxxabi.h>

#include <cstdlib>
#include <typeinfo>

namespace martello {

void DataIterator::skip(int64_t n) {
  MARTELLO_CHECK(n >= 0, "[data] skip(", n, "): a flow cannot go back.");
  for (int64_t i = 0; i < n; ++i)
    if (!next()) return;
}

std::string DataFlow::description() const {
  const std::type_info& type = typeid(*this);
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> name(abi::__cxa_demangle(type.name(), nullptr, nullptr, &status),
                                                         std::free);
  return status == 0 ? name.get() : type.name();
}

std::optional<int64_t> DataFlowRef::size() const {
  MARTELLO_CHECK(*this, "[data] size() of a DataFlowRef that holds no flow.");
  return get()->size();
}

std::string DataFlowRef::description() const {
  MARTELLO_CHECK(*this, "[data] description() of a DataFlowRef that holds no flow.");
  return get()->description();
}

}  // namespace martello
