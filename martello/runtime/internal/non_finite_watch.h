#pragma once
#include <martello/runtime/internal/program.h>

#include <mutex>
#include <string>

namespace martello {

// Looks at what each step of a run gives, and remembers the first NaN and the first infinity.
class NonFiniteWatch {
 public:
  explicit NonFiniteWatch(const Program& program) : program_(program) {}
  // After the step has run, before another device may use what it gave.
  void look(const ProgramStep& step, const KernelRun& run);
  // Which ops gave them, with their lines.
  std::string report() const;

 private:
  std::string describe(const ProgramStep& step, const KernelRun& run, size_t output, const char* what) const;

  const Program& program_;
  std::mutex mutex_;
  std::string first_nan_, first_infinity_;
};

}  // namespace martello
