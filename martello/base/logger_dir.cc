#include <martello/base/append_file.h>
#include <martello/base/directory_lock.h>
#include <martello/base/error.h>
#include <martello/base/internal/log_file.h>
#include <martello/base/log.h>
#include <martello/base/logger_dir.h>

#include <errno.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <mutex>

namespace martello::logger {
namespace {

namespace fs = std::filesystem;

struct Answer {
  std::string_view word;
  OldRun old;
};
constexpr Answer kAnswers[] = {
    {"keep", OldRun::keep}, {"delete", OldRun::erase}, {"backup", OldRun::backup}, {"new", OldRun::renew}};

struct Directory {
  std::mutex mutex;
  std::optional<std::string> path;
  std::optional<DirectoryLock> lock;
};

// Never destroyed: threads may still ask while the process ends.
Directory& directory() {
  static Directory& directory = *new Directory;
  return directory;
}

// The whole word or its first letter.
std::optional<OldRun> parse_answer(std::string_view text) {
  for (const Answer& answer : kAnswers)
    if (text == answer.word || text == answer.word.substr(0, 1)) return answer.old;
  return std::nullopt;
}

bool holds_files(const fs::path& dir) {
  if (!fs::exists(dir)) return false;
  MARTELLO_CHECK(fs::is_directory(dir), "[logger] '", dir.string(), "' is a file, not a directory. Choose another.");
  for (const fs::directory_entry& entry : fs::directory_iterator(dir))
    if (entry.path().filename().string().front() != '.') return true;
  return false;
}

OldRun ask_terminal(const std::string& dir) {
  for (std::string line;;) {
    std::cerr << "The log directory '" << dir << "' holds files.\n"
              << "Keep them (k), delete them (d), back the directory up (b), use a new one (n), or quit (q)? "
              << std::flush;
    if (!std::getline(std::cin, line) || line == "q")
      throw FailedPrecondition(str("[logger] '", dir, "' holds files of another run, and nobody chose what to do."));
    if (const auto old = parse_answer(line)) return *old;
  }
}

OldRun decide(const std::string& dir) {
  if (const char* text = getenv("MARTELLO_OLD_RUN"); text != nullptr && *text != '\0') {
    const auto old = parse_answer(text);
    MARTELLO_CHECK(old, "[logger] MARTELLO_OLD_RUN is '", text, "', not keep, delete, backup or new.");
    return *old;
  }
  if (isatty(STDIN_FILENO) && isatty(STDERR_FILENO)) return ask_terminal(dir);
  throw FailedPrecondition(str("[logger] '", dir, "' holds files of another run, and there is no terminal to ask at. ",
                               "Say what becomes of them: OldRun::keep, erase, backup or renew, or the environment "
                               "variable MARTELLO_OLD_RUN=keep, delete, backup or new."));
}

void check_is_erasable(const fs::path& dir) {
  const bool holds_us = !fs::relative(fs::current_path(), fs::canonical(dir)).string().starts_with("..");
  MARTELLO_CHECK(!holds_us, "[logger] '", dir.string(), "' holds the working directory and is not deleted. Choose ",
                 "another directory, or OldRun::renew.");
}

// All but our lock.
void erase_contents(const fs::path& dir) {
  std::vector<fs::path> paths;
  for (const fs::directory_entry& entry : fs::directory_iterator(dir))
    if (entry.path().filename() != DirectoryLock::kFileName) paths.push_back(entry.path());
  for (const fs::path& path : paths) fs::remove_all(path);
}

DirectoryLock take(const std::string& dir) {
  fs::create_directories(dir);
  return DirectoryLock(dir);
}

// Changes `dir` to the directory that is used in the end. Before it is locked nothing in it is touched: a run may be
// using it.
DirectoryLock clear_the_way(std::string& dir, OldRun old) {
  const bool has_files = holds_files(dir);
  if (has_files && old == OldRun::ask) old = decide(dir);
  if (has_files && old == OldRun::renew) dir = martello::internal::unused_path(dir);
  if (has_files && old == OldRun::erase) check_is_erasable(dir);
  DirectoryLock lock = take(dir);
  if (has_files && old == OldRun::erase) erase_contents(dir);
  if (has_files && old == OldRun::backup) {
    const std::string moved = martello::internal::unused_path(dir);
    fs::rename(dir, moved);
    info("[logger] '", dir, "' is now '", moved, "'.");
    lock = take(dir);
  }
  return lock;
}

std::string without_slash(std::string dir) {
  while (dir.size() > 1 && dir.back() == '/') dir.pop_back();
  return dir;
}

void leave(Directory& directory) {
  martello::internal::set_log_file("");
  directory.path.reset();
  directory.lock.reset();
}

[[noreturn]] void refuse(const std::string& dir, std::string_view why) {
  throw InvalidArgument(
      str("[logger] cannot use '", dir, "': ", why, " Choose a directory that this user may write to."));
}

// As a shell would read it back.
std::string shell_word(const std::string& word) {
  constexpr std::string_view kSafe = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./=:,+@%";
  if (!word.empty() && word.find_first_not_of(kSafe) == std::string::npos) return word;
  std::string quoted = "'";
  for (char c : word) c == '\'' ? quoted += "'\\''" : quoted += c;
  return quoted += "'";
}

}  // namespace

void set_logger_dir(const std::string& dir, OldRun old) {
  MARTELLO_CHECK(!dir.empty(), "[logger] set_logger_dir() was given no directory.");
  const std::lock_guard lock(directory().mutex);
  leave(directory());
  try {
    std::string used = without_slash(dir);
    DirectoryLock taken = clear_the_way(used, old);
    martello::internal::set_log_file(used + "/log.log");
    directory().path = used;
    directory().lock.emplace(std::move(taken));
  } catch (const fs::filesystem_error& e) {
    refuse(dir, e.code().message() + ".");
  } catch (const FileError& e) {
    refuse(dir, e.what());
  }
  info("Argv: ", command_line());
}

void auto_set_dir(OldRun old, const std::string& name) {
  set_logger_dir(str("train_log/", program_invocation_short_name, name.empty() ? "" : ":", name), old);
}

std::optional<std::string> find_logger_dir() {
  const std::lock_guard lock(directory().mutex);
  return directory().path;
}

std::string get_logger_dir() {
  if (auto dir = find_logger_dir()) return *dir;
  throw FailedPrecondition("[logger] there is no log directory. Call logger::auto_set_dir() or set_logger_dir().");
}

void close_logger_dir() {
  const std::lock_guard lock(directory().mutex);
  leave(directory());
}

std::string command_line() {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  std::string line;
  for (size_t first = 0, end; (end = text.find('\0', first)) != std::string::npos; first = end + 1)
    line += str(line.empty() ? "" : " ", shell_word(text.substr(first, end - first)));
  return line;
}

}  // namespace martello::logger
