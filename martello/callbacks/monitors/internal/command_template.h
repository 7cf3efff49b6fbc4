#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace martello::internal {

// A shell command with places for scalars: `echo {loss:.3f} {validation_error}`. {{ and }} are braces; the format is
// that of printf for one number.
class CommandTemplate {
 public:
  // Refuses a place for a name that is not among `names`. `who` is named in errors.
  CommandTemplate(std::string_view text, const std::vector<std::string>& names, std::string_view who);
  // `values` in the order of the names.
  std::string with(const std::vector<double>& values) const;

 private:
  struct Part {
    std::string text;    // in front of the place
    int value = -1;      // none after the last text
    std::string format;  // "%.3f"
  };
  void add_place(std::string_view place, const std::vector<std::string>& names, std::string_view who);
  std::vector<Part> parts_;
};

// Runs it and waits. A command that fails is an error in the log.
void run_command(const std::string& command, std::string_view who);

}  // namespace martello::internal
