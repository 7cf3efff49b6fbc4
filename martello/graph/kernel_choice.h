#pragma once
#include <martello/graph/kernel.h>

#include <functional>
#include <span>
#include <string>

// For kernels whose plan phase has several candidates.
namespace martello {

// A way to run a node. The name is what records of choices hold: one line of text, without " => ".
struct KernelCandidate {
  std::string name;
  std::function<Kernel()> make;
};

// Who chooses; implemented by the runtime.
class KernelChooser {
 public:
  virtual ~KernelChooser() = default;
  // Whether it looks at more than the first candidate, which then may be the only one that is listed.
  virtual bool wants_all() const = 0;
  // Which of the candidates runs this node. The first is what fixed rules say. Asked again, it says the same.
  virtual size_t choose(const KernelPlan& plan, std::span<const KernelCandidate> candidates) = 0;
};

// Chooses for all kernels that this thread plans while the scope lives.
class KernelChooserScope {
 public:
  [[nodiscard]] explicit KernelChooserScope(KernelChooser* chooser);
  ~KernelChooserScope();
  KernelChooserScope(const KernelChooserScope&) = delete;
  KernelChooserScope& operator=(const KernelChooserScope&) = delete;
  static bool wants_all();  // false without a scope: the first candidate is taken

 private:
  KernelChooser* previous_;
};

// The position of the chosen one.
size_t choose_candidate(const KernelPlan& plan, std::span<const KernelCandidate> candidates);
Kernel choose_kernel(const KernelPlan& plan, std::span<const KernelCandidate> candidates);

}  // namespace martello
