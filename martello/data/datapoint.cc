#include <martello/base/error.h>
#include <martello/data/datapoint.h>

#include <algorithm>

namespace martello {
namespace {

std::string range_of(const HostTensor& t) {
  if (t.num_elements() == 0) return " empty";
  double least = t.at(0), greatest = t.at(0);
  for (int64_t i = 1; i < t.num_elements(); ++i)
    least = std::min(least, t.at(i)), greatest = std::max(greatest, t.at(i));
  return least == greatest ? str(" = ", least) : str(" in [", least, ", ", greatest, "]");
}

}  // namespace

Datapoint Datapoint::of(HostTensors components) {
  Datapoint dp;
  dp.components_ = std::move(components);
  return dp;
}

Datapoint& Datapoint::set(std::string_view key, HostTensor value) {
  MARTELLO_CHECK(!key.empty(), "[datapoint] a key is empty.");
  MARTELLO_CHECK(keys_.size() == components_.size(), "[datapoint '", key, "'] cannot be added by key: the ",
                 components_.size(), " components before it have none.");
  if (const auto i = find(key)) {
    components_[*i] = std::move(value);
  } else {
    components_.push_back(std::move(value));
    keys_.emplace_back(key);
  }
  return *this;
}

Datapoint& Datapoint::push_back(HostTensor value) {
  MARTELLO_CHECK(keys_.empty(), "[datapoint] component ", components_.size(), " has no key, the others have (",
                 join(keys_), "). Use set().");
  components_.push_back(std::move(value));
  return *this;
}

std::optional<size_t> Datapoint::find(std::string_view key) const {
  const auto found = std::find(keys_.begin(), keys_.end(), key);
  if (found == keys_.end()) return std::nullopt;
  return static_cast<size_t>(found - keys_.begin());
}

size_t Datapoint::index_of(std::string_view key) const {
  if (const auto i = find(key)) return *i;
  throw NotFound(martello::str("[datapoint '", key, "'] no component has this key; there are ", signature(), ".",
                               did_you_mean(key, keys_)));
}

void Datapoint::refuse_index(size_t i) const {
  throw InvalidArgument(
      martello::str("[datapoint] component ", i, " of a datapoint with ", size(), ": ", signature(), "."));
}

int64_t Datapoint::num_bytes() const {
  int64_t bytes = 0;
  for (const HostTensor& component : components_) bytes += component.num_bytes();
  return bytes;
}

bool Datapoint::same_bits(const Datapoint& other) const {
  return keys_ == other.keys_ &&
         std::equal(components_.begin(), components_.end(), other.components_.begin(), other.components_.end(),
                    [](const HostTensor& a, const HostTensor& b) { return a.same_bits(b); });
}

std::string Datapoint::signature() const {
  std::vector<std::string> parts;
  for (size_t i = 0; i < size(); ++i)
    parts.push_back(martello::str(keys_.empty() ? "" : keys_[i] + " ", components_[i].dtype(), components_[i].shape()));
  return martello::str("(", join(parts), ")");
}

std::string Datapoint::str() const {
  std::vector<std::string> parts;
  for (size_t i = 0; i < size(); ++i)
    parts.push_back(martello::str(keys_.empty() ? "" : keys_[i] + " ", components_[i].dtype(), components_[i].shape(),
                                  range_of(components_[i])));
  return martello::str("(", join(parts), ")");
}

size_t Component::in(const Datapoint& dp) const {
  if (!key_.empty()) return dp.index_of(key_);
  MARTELLO_CHECK(0 <= index_ && index_ < static_cast<int64_t>(dp.size()), "[datapoint] component ", index_,
                 " of a datapoint with ", dp.size(), ": ", dp.signature(), ".");
  return static_cast<size_t>(index_);
}

std::string Component::str() const { return key_.empty() ? martello::str(index_) : quoted(key_); }

}  // namespace martello
