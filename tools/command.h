#pragma once
#include <martello/base/error.h>

#include <nlohmann/json.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// What the subcommands of `martello` share. Each is one source file with one function that gives its Command.
namespace martello::tools {

using Json = nlohmann::ordered_json;

// The exit codes of all of them.
enum ExitCode : int {
  kFine = 0,
  kDifferent = 1,  // the answer is no: files differ, a file is damaged
  kFailed = 2,     // wrong use, or a file that cannot be read
};

struct Option {
  std::string name;   // "out", for --out
  std::string value;  // what it takes: "FILE"; empty: nothing
  std::string help;
};

// What was written behind the name of a subcommand, checked against its options.
class Args {
 public:
  Args(std::vector<std::string> operands, std::vector<std::pair<std::string, std::string>> options)
      : operands_(std::move(operands)), options_(std::move(options)) {}
  const std::vector<std::string>& operands() const { return operands_; }
  bool has(std::string_view option) const { return find(option).has_value(); }
  std::optional<std::string> find(std::string_view option) const;  // the last one
  std::string get(std::string_view option, std::string otherwise) const { return find(option).value_or(otherwise); }
  std::vector<std::string> all(std::string_view option) const;
  // Refuses what is no number in [least, most].
  int64_t number(std::string_view option, int64_t otherwise, int64_t least, int64_t most) const;
  double real(std::string_view option, double otherwise) const;

 private:
  std::vector<std::string> operands_;
  std::vector<std::pair<std::string, std::string>> options_;
};

// What a subcommand found: as text for people, and for machines (--json).
struct Report {
  std::string text;
  Json json;
  int code = kFine;
};

struct Command {
  std::string name;      // "ls", "runs diff"
  std::string operands;  // "FILE ..."
  std::string summary;   // one line
  std::string help;      // more of them
  size_t least_operands = 1, most_operands = 1;
  std::vector<Option> options;
  Report (*run)(const Args&) = nullptr;
};

Command convert_command();
Command diff_command();
Command graph_command();
Command ls_command();
Command plan_command();
Command plot_command();
Command runs_diff_command();
Command show_command();
Command verify_command();

// Wrong use of the command line: the help is shown with it.
class WrongUse : public Error {
 public:
  using Error::Error;
};

// Columns below each other, two blanks apart; numbers of a column may be aligned right by its index.
std::string table(const std::vector<std::vector<std::string>>& rows, const std::vector<size_t>& right = {});
// "1.4 MB"
std::string human_bytes(int64_t bytes);
// Names and texts of files may be no UTF-8, which JSON cannot hold: such bytes become U+FFFD.
std::string json_text(const Json& json);
// Writes the text to a file, or refuses.
void write_file(const std::string& path, std::string_view text);
std::string read_file(const std::string& path);

}  // namespace martello::tools
