#include <martello/base/error.h>
#include <martello/input/internal/signature_check.h>

namespace martello::internal {

bool fits(const Shape& wanted, const Shape& given) {
  if (wanted.rank() != given.rank()) return false;
  for (int i = 0; i < wanted.rank(); ++i)
    if (wanted[i] >= 0 && given[i] >= 0 && wanted[i] != given[i]) return false;
  return true;
}

std::string signature_text(const std::vector<TensorSpec>& signature) {
  std::vector<std::string> parts;
  for (const TensorSpec& s : signature) parts.push_back(str(s.name, " ", s));
  return str("(", join(parts), ")");
}

SignatureCheck::SignatureCheck(std::vector<TensorSpec> signature, std::string who, std::string flow)
    : signature_(std::move(signature)), who_(std::move(who)), flow_(std::move(flow)) {}

void SignatureCheck::check(const Datapoint& datapoint, int64_t ordinal) const {
  check_count(datapoint, ordinal);
  for (size_t i = 0; i < signature_.size(); ++i) {
    const TensorSpec& wanted = signature_[i];
    const HostTensor& given = component(datapoint, i);
    MARTELLO_CHECK(given.dtype() == wanted.dtype && fits(wanted.shape, given.shape()), where(ordinal), "component ", i,
                   " is ", given.dtype(), given.shape(), " but input '", wanted.name, "' of the signature is ", wanted,
                   ". Change it by map(), or the signature.");
  }
}

void SignatureCheck::check_count(const Datapoint& datapoint, int64_t ordinal) const {
  if (datapoint.keys().empty()) {
    MARTELLO_CHECK(datapoint.size() == signature_.size(), where(ordinal), "it has ", datapoint.size(), " components ",
                   datapoint.signature(), " but the signature has ", signature_.size(), " inputs ",
                   signature_text(signature_), ".");
    return;
  }
  for (const TensorSpec& s : signature_)
    MARTELLO_CHECK(datapoint.find(s.name), where(ordinal), "it has no component for input '", s.name, "' but ",
                   datapoint.signature(), ".", did_you_mean(s.name, datapoint.keys()));
}

std::string SignatureCheck::where(int64_t ordinal) const {
  return str("[", who_, "] datapoint ", ordinal, " of ", flow_, ": ");
}

}  // namespace martello::internal
