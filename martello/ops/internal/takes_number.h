#pragma once
#include <martello/graph/kernel_choice.h>

#include <span>
#include <string>

// For tests of everything that may run an op.
namespace martello::testing {

// Takes the candidate with this number, and knows how many there are.
class TakesNumber : public KernelChooser {
 public:
  explicit TakesNumber(size_t number) : number_(number) {}
  bool wants_all() const override { return true; }
  size_t choose(const KernelPlan&, std::span<const KernelCandidate> candidates) override {
    count = candidates.size();
    name = candidates[number_].name;
    return number_;
  }

  size_t count = 1;
  std::string name;

 private:
  size_t number_;
};

}  // namespace martello::testing
