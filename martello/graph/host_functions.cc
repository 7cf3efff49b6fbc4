#include <martello/base/error.h>
#include <martello/graph/subgraph.h>

#include <map>
#include <mutex>

namespace martello {
namespace {

struct HostFunctions {
  std::mutex mutex;
  std::map<std::string, HostFunction, std::less<>> by_name;
};

HostFunctions& host_functions() {
  static HostFunctions* functions = new HostFunctions;
  return *functions;
}

}  // namespace

void register_host_function(const HostFunction& function) {
  MARTELLO_CHECK(!function.is_null(), "[register_host_function '", function.name(), "'] the function is null.");
  HostFunctions& known = host_functions();
  std::lock_guard lock(known.mutex);
  known.by_name.insert_or_assign(function.name(), function);
}

std::optional<HostFunction> find_host_function(std::string_view name) {
  HostFunctions& known = host_functions();
  std::lock_guard lock(known.mutex);
  const auto it = known.by_name.find(name);
  return it == known.by_name.end() ? std::nullopt : std::optional(it->second);
}

}  // namespace martello
