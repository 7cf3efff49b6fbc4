// The `martello` command: looks into checkpoints, graphs and runs. docs/command.md describes it.
#include "command.h"

#include <martello/base/log.h>
#include <martello/base/meminfo.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <new>

namespace {

using namespace martello;
using namespace martello::tools;

constexpr const char* kExitCodes =
    "exit codes\n"
    "  0  done; nothing differs, all files are sound\n"
    "  1  the answer is no: something differs, a file is damaged\n"
    "  2  wrong use, or something cannot be read or written\n";

std::vector<Command> all_commands() {
  return {ls_command(),    show_command(), diff_command(),      verify_command(), convert_command(),
          graph_command(), plan_command(), runs_diff_command(), plot_command()};
}

std::string help() {
  std::vector<std::vector<std::string>> rows;
  for (const Command& c : all_commands()) rows.push_back({"  " + c.name, c.operands, c.summary});
  return str("usage: martello COMMAND [options] ...\n\n", table(rows), "\n",
             "  martello COMMAND --help says more of one; --version tells the version.\n\n", kExitCodes);
}

std::string help_of(const Command& c) {
  std::vector<std::vector<std::string>> rows;
  for (const Option& o : c.options) rows.push_back({str("  --", o.name, o.value.empty() ? "" : " ", o.value), o.help});
  rows.push_back({"  --json", "print one JSON object instead of text, also for an error"});
  rows.push_back({"  --help", "this text"});
  return str("usage: martello ", c.name, " [options] ", c.operands, "\n\n", c.summary, "\n", c.help, "\noptions\n",
             table(rows), "\n", kExitCodes);
}

const Option& option_of(const Command& command, const std::string& name) {
  std::vector<std::string> names;
  for (const Option& o : command.options) {
    names.push_back("--" + o.name);
    if (names.back() == name) return o;
  }
  throw WrongUse(str(name, " is no option of ", command.name, ".", did_you_mean(name, names)));
}

// The value of the option in words[i], which may be the next word.
std::string value_of(const Option& option, const std::vector<std::string>& words, size_t& i) {
  const size_t equals = words[i].find('=');
  if (option.value.empty()) {
    if (equals != std::string::npos) throw WrongUse(str("--", option.name, " takes no value."));
    return "";
  }
  if (equals != std::string::npos) return words[i].substr(equals + 1);
  if (i + 1 == words.size()) throw WrongUse(str("--", option.name, " needs a value: ", option.value, "."));
  return words[++i];
}

Args parse(const Command& command, const std::vector<std::string>& words) {
  std::vector<std::string> operands;
  std::vector<std::pair<std::string, std::string>> options;
  bool is_over = false;  // after `--` everything is an operand
  for (size_t i = 0; i < words.size(); ++i) {
    if (is_over || !words[i].starts_with("--")) {
      operands.push_back(words[i]);
    } else if (words[i] == "--") {
      is_over = true;
    } else {
      const Option& option = option_of(command, words[i].substr(0, words[i].find('=')));
      options.emplace_back(option.name, value_of(option, words, i));
    }
  }
  if (operands.size() < command.least_operands || operands.size() > command.most_operands)
    throw WrongUse(str("it takes ", command.operands, ", not ", operands.size(), " operands."));
  return Args(std::move(operands), std::move(options));
}

int fail(const std::string& text, bool is_json) {
  if (is_json) std::fputs(json_text({{"error", text}}).c_str(), stdout);
  std::fprintf(stderr, "martello: %s\n", text.c_str());
  return kFailed;
}

std::string out_of_memory() {
  const auto available = meminfo_bytes("MemAvailable");
  return str("there is not enough memory for this",
             available ? str("; ", human_bytes(*available), " are available.") : ".");
}

// Whether an option stands before `--`.
bool has_option(const std::vector<std::string>& words, std::string_view option) {
  const auto last = std::find(words.begin(), words.end(), "--");
  return std::find(words.begin(), last, option) != last;
}

int run(const Command& command, std::vector<std::string> words) {
  const auto last = std::find(words.begin(), words.end(), "--");
  const bool is_json = has_option(words, "--json");
  if (has_option(words, "--help")) return std::fputs(help_of(command).c_str(), stdout), kFine;
  words.erase(std::remove(words.begin(), last, "--json"), last);
  try {
    const Report report = command.run(parse(command, words));
    const std::string text = is_json ? json_text(report.json) : report.text;
    std::fwrite(text.data(), 1, text.size(), stdout);
    if (std::fflush(stdout) != 0) return fail("cannot write to standard output.", false);
    return report.code;
  } catch (const WrongUse& e) {
    return fail(str(e.what(), " martello ", command.name, " --help says what it takes."), is_json);
  } catch (const std::bad_alloc&) {
    return fail(out_of_memory(), is_json);
  } catch (const std::exception& e) {
    return fail(e.what(), is_json);
  }
}

// The name may have two words; null when there is no such command.
const Command* find_command(const std::vector<Command>& commands, const std::vector<std::string>& words, size_t& used) {
  for (const Command& c : commands) {
    const std::vector<std::string> name = split(c.name, ' ');
    if (words.size() < name.size() || !std::equal(name.begin(), name.end(), words.begin())) continue;
    used = name.size();
    return &c;
  }
  return nullptr;
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  logger::set_level(logger::Level::warn);
  if (words.empty()) return std::fputs(help().c_str(), stderr), kFailed;
  if (words[0] == "--help" || words[0] == "help") return std::fputs(help().c_str(), stdout), kFine;
  if (words[0] == "--version") return std::printf("martello %s\n", MARTELLO_VERSION), kFine;
  const std::vector<Command> commands = all_commands();
  size_t used = 0;
  if (const Command* command = find_command(commands, words, used))
    return run(*command, {words.begin() + static_cast<std::ptrdiff_t>(used), words.end()});
  std::vector<std::string> names;
  for (const Command& c : commands) names.push_back(c.name);
  return fail(
      str("there is no command '", words[0], "'.", did_you_mean(words[0], names), " martello --help lists them."),
      has_option(words, "--json"));
}
