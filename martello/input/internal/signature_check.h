#pragma once
#include <martello/data/datapoint.h>
#include <martello/tensor/tensor_spec.h>

#include <string>
#include <string_view>
#include <vector>

namespace martello::internal {

// Compares datapoints with the signature that they are to feed.
class SignatureCheck {
 public:
  SignatureCheck() = default;
  // `who` begins the messages: "queue_input"; `flow` describes where the datapoints come from.
  SignatureCheck(std::vector<TensorSpec> signature, std::string who, std::string flow);

  // Throws InvalidArgument with both values. `ordinal` counts datapoints from where reading began.
  void check(const Datapoint& datapoint, int64_t ordinal) const;
  // What feeds input i: by key where the datapoint has keys.
  const HostTensor& component(const Datapoint& datapoint, size_t i) const {
    return datapoint.keys().empty() ? datapoint[i] : datapoint[std::string_view(signature_[i].name)];
  }

 private:
  void check_count(const Datapoint& datapoint, int64_t ordinal) const;
  std::string where(int64_t ordinal) const;

  std::vector<TensorSpec> signature_;
  std::string who_, flow_;
};

// Whether a value or tensor of this shape may stand where `wanted` is asked for; unknown dimensions fit.
bool fits(const Shape& wanted, const Shape& given);
// "(image f32[?, 28, 28], label i32[?])"
std::string signature_text(const std::vector<TensorSpec>& signature);

}  // namespace martello::internal
