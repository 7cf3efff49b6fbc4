#include <martello/models/arg_scope.h>

#include <unordered_map>

namespace martello {
namespace {
thread_local std::unordered_map<const void*, std::shared_ptr<const void>> current;
}

std::shared_ptr<const void> ArgScope::top(const void* key) {
  const auto it = current.find(key);
  return it == current.end() ? nullptr : it->second;
}

void ArgScope::set(const void* key, std::shared_ptr<const void> options) {
  saved_.emplace_back(key, top(key));
  current[key] = std::move(options);
}

ArgScope::~ArgScope() {
  for (; !saved_.empty(); saved_.pop_back()) current[saved_.back().first] = std::move(saved_.back().second);
}

}  // namespace martello
