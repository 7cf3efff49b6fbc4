#include <martello/input/remap_input_source.h>

#include <martello/base/error.h>
#include <martello/graph/core_ops.h>

#include <algorithm>

namespace martello {
namespace {

class RemappedInput : public InputSource {
 public:
  RemappedInput(Ref<InputSource> input, std::vector<std::string> names)
      : input_(std::move(input)), names_(std::move(names)) {}

  void setup(const std::vector<TensorSpec>& signature) override {
    signature_ = signature;
    std::vector<std::string> known;
    for (const TensorSpec& s : signature) known.push_back(s.name);
    std::vector<TensorSpec> given;
    for (const std::string& name : names_) {
      const auto found = std::find(known.begin(), known.end(), name);
      MARTELLO_CHECK(found != known.end(), "[remap_input_source] the signature has no input '", name, "' but ",
                     join(known), ".", did_you_mean(name, known));
      given.push_back(signature[static_cast<size_t>(found - known.begin())]);
    }
    input_->setup(given);
  }
  TensorList get_input_tensors() override {
    const TensorList given = input_->get_input_tensors();
    MARTELLO_CHECK(given.size() == names_.size(), "[remap_input_source] the source gives ", given.size(),
                   " tensors for ", names_.size(), " inputs (", join(names_), ").");
    TensorList all;
    for (const TensorSpec& s : signature_) {
      const auto found = std::find(names_.begin(), names_.end(), s.name);
      all.push_back(found == names_.end() ? placeholder(s.shape, s.dtype, Name(s.name, s.line))
                                          : given[static_cast<size_t>(found - names_.begin())]);
    }
    return all;
  }
  CallbackList get_callbacks() override { return input_->get_callbacks(); }
  std::optional<int64_t> size() const override { return input_->size(); }
  void reset_state() override { input_->reset_state(); }
  bool feeds_each_tower() const override { return input_->feeds_each_tower(); }
  bool stage(int64_t steps) override { return input_->stage(steps); }

 private:
  Ref<InputSource> input_;
  std::vector<std::string> names_;
  std::vector<TensorSpec> signature_;
};

}  // namespace

Ref<InputSource> remap_input_source(Ref<InputSource> input, std::vector<std::string> names) {
  MARTELLO_CHECK(input, "[remap_input_source] the input is null.");
  MARTELLO_CHECK(!names.empty(), "[remap_input_source] names no input that the source gives.");
  for (size_t i = 0; i < names.size(); ++i)
    MARTELLO_CHECK(std::find(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(i), names[i]) ==
                       names.begin() + static_cast<std::ptrdiff_t>(i),
                   "[remap_input_source] names input '", names[i], "' twice.");
  return make<RemappedInput>(std::move(input), std::move(names));
}

}  // namespace martello
