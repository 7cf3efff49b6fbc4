#pragma once
#include <optional>
#include <string>

// The directory of a run: log.log, and by default events, statistics, checkpoints and dumps.
namespace martello::logger {

// What becomes of files that are in the directory already. Hidden ones do not count.
enum class OldRun {
  ask,     // at a terminal; elsewhere an error, unless MARTELLO_OLD_RUN says keep, delete, backup or new
  keep,    // and write beside them; an old log.log gets the time behind its name
  erase,   // for good
  backup,  // moves the directory to `dir`.MMDD-HHMMSS
  renew,   // leaves it alone and uses `dir`.MMDD-HHMMSS
};

// Makes the directory and everything above it, and sends log lines to its log.log from now on. Call it before training:
// writers look for the directory when a run starts. It is this process's until it sets another one or ends: while
// another has it, FailedPrecondition names that one's number and nothing in the directory is touched.
void set_logger_dir(const std::string& dir, OldRun old = OldRun::ask);
// train_log/<program>, or train_log/<program>:<name>.
void auto_set_dir(OldRun old = OldRun::ask, const std::string& name = "");
// get_ throws FailedPrecondition when none was set.
std::string get_logger_dir();
std::optional<std::string> find_logger_dir();
// Lines go to standard error only, and there is no directory any more.
void close_logger_dir();

// The words of this process's command line, quoted where a shell needs it.
std::string command_line();

}  // namespace martello::logger
