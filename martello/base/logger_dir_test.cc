#include <martello/base/internal/test_dir.h>
#include <martello/base/internal/test_text.h>
#include <martello/base/logger_dir.h>

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>

namespace martello::logger {
namespace {

namespace fs = std::filesystem;
using martello::testing::error_of;

std::string read(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

void put(const fs::path& path, std::string_view text) { std::ofstream(path) << text; }

struct LoggerDirTest : ::testing::Test {
  LoggerDirTest() {
    unsetenv("MARTELLO_OLD_RUN");
    GTEST_FLAG_SET(death_test_style, "threadsafe");
  }
  void make_old_run() {
    fs::create_directories(dir);
    put(dir + "/model", "old");
    put(dir + "/log.log", "old lines\n");
  }
  // Names beside `dir` that begin with its name.
  std::vector<std::string> beside() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(fs::path(dir).parent_path()))
      if (entry.path().filename().string().starts_with("run.")) names.push_back(entry.path().string());
    return names;
  }
  const testing::TestDir folder;
  const std::string root = folder.path(), dir = root + "/train_log/run";
  martello::testing::Log console;
};

TEST_F(LoggerDirTest, lines_go_to_console_and_file) {
  set_logger_dir(dir + "//");
  warn("careful");
  EXPECT_EQ(get_logger_dir(), dir);
  EXPECT_CONTAINS(read(dir + "/log.log"), "@logger_dir_test.cc:");
  EXPECT_CONTAINS(read(dir + "/log.log"), "] WRN careful\n");
  EXPECT_CONTAINS(read(dir + "/log.log"), "Argv: ");
  EXPECT_EQ(console.lines.back(), "careful");
  close_logger_dir();
  info("later");
  EXPECT_EQ(read(dir + "/log.log").find("later"), std::string::npos);
  EXPECT_CONTAINS(error_of<FailedPrecondition>([] { get_logger_dir(); }), "auto_set_dir()");
}

TEST_F(LoggerDirTest, hidden_files_are_no_old_run) {
  fs::create_directories(dir);
  put(dir + "/.hidden", "x");
  EXPECT_NO_THROW(set_logger_dir(dir));
}

TEST_F(LoggerDirTest, keep_puts_the_old_log_aside) {
  make_old_run();
  set_logger_dir(dir, OldRun::keep);
  EXPECT_EQ(read(dir + "/model"), "old");
  int old_logs = 0;
  for (const auto& entry : fs::directory_iterator(dir))
    old_logs += entry.path().filename().string().starts_with("log.log.") && read(entry.path()) == "old lines\n";
  EXPECT_EQ(old_logs, 1);
  EXPECT_EQ(read(dir + "/log.log").find("old lines"), std::string::npos);
}

TEST_F(LoggerDirTest, two_runs_within_a_second_keep_both_logs) {
  for (int i = 0; i < 3; ++i) set_logger_dir(dir, OldRun::keep);
  int logs = 0;
  for (const auto& entry : fs::directory_iterator(dir)) logs += entry.path().filename().string().starts_with("log.log");
  EXPECT_EQ(logs, 3);
}

TEST_F(LoggerDirTest, erase_backup_and_renew) {
  make_old_run();
  set_logger_dir(dir, OldRun::renew);
  const std::string renewed = get_logger_dir();
  EXPECT_EQ(beside(), std::vector<std::string>{renewed});
  EXPECT_EQ(read(dir + "/model"), "old");
  set_logger_dir(dir, OldRun::backup);
  EXPECT_EQ(get_logger_dir(), dir);
  EXPECT_EQ(beside().size(), 2u);
  EXPECT_FALSE(fs::exists(dir + "/model"));
  put(dir + "/model", "new");
  set_logger_dir(dir, OldRun::erase);
  EXPECT_FALSE(fs::exists(dir + "/model"));
  EXPECT_TRUE(fs::exists(dir + "/log.log"));
}

// The exit code of a forked process: that of its function, or 1 when a check in it has failed.
int code_of_process(const std::function<int()>& body) {
  const pid_t pid = fork();
  if (pid == 0) {
    const int code = body();
    std::_Exit(::testing::Test::HasFailure() ? 1 : code);
  }
  int status = 0;
  waitpid(pid, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

TEST_F(LoggerDirTest, a_directory_in_use_is_refused_before_anything_in_it_is_touched) {
  set_logger_dir(dir);
  put(dir + "/model", "live");
  const std::string expected = str("is in use by process ", int64_t{getpid()});
  const auto is_refused = [&](OldRun old) {
    return code_of_process([&] {
      EXPECT_CONTAINS(error_of<FailedPrecondition>([&] { set_logger_dir(dir, old); }), expected);
      return 0;
    });
  };
  for (const OldRun old : {OldRun::keep, OldRun::erase, OldRun::backup}) EXPECT_EQ(is_refused(old), 0);
  setenv("MARTELLO_OLD_RUN", "delete", 1);
  EXPECT_EQ(is_refused(OldRun::ask), 0);
  unsetenv("MARTELLO_OLD_RUN");
  EXPECT_TRUE(beside().empty());
  EXPECT_EQ(read(dir + "/model"), "live");
  EXPECT_CONTAINS(read(dir + "/log.log"), "Argv: ");
  for (const auto& entry : fs::directory_iterator(dir))
    EXPECT_FALSE(entry.path().filename().string().starts_with("log.log."));
}

TEST_F(LoggerDirTest, beside_a_directory_in_use_there_may_be_a_new_one) {
  set_logger_dir(dir);
  const auto renew = [&] {
    set_logger_dir(dir, OldRun::renew);
    return get_logger_dir() == dir ? 1 : 3;
  };
  EXPECT_EQ(code_of_process(renew), 3);
}

TEST_F(LoggerDirTest, a_directory_is_free_when_its_process_has_another_or_was_killed) {
  const auto use = [&] {
    set_logger_dir(dir, OldRun::erase);
    return 3;
  };
  set_logger_dir(dir);
  set_logger_dir(dir + "2");
  EXPECT_EQ(code_of_process(use), 3);
  set_logger_dir(dir, OldRun::keep);
  close_logger_dir();
  EXPECT_EQ(code_of_process(use), 3);
  const auto die = [&] { return set_logger_dir(dir, OldRun::keep), raise(SIGKILL); };
  EXPECT_EQ(code_of_process(die), -SIGKILL);
  EXPECT_EQ(code_of_process(use), 3);
}

TEST_F(LoggerDirTest, the_working_directory_is_never_erased) {
  EXPECT_CONTAINS(error_of([] { set_logger_dir(".", OldRun::erase); }), "holds the working directory");
  EXPECT_CONTAINS(error_of([] { set_logger_dir("/", OldRun::erase); }), "holds the working directory");
}

// Standard input is the null device, as under a batch system; reading it would return at once.
TEST_F(LoggerDirTest, without_a_terminal_nobody_is_asked) {
  make_old_run();
  const auto run = [&] {
    dup2(open("/dev/null", O_RDONLY), STDIN_FILENO);
    const std::string text = error_of<FailedPrecondition>([&] { set_logger_dir(dir); });
    EXPECT_CONTAINS(text, "there is no terminal to ask at");
    EXPECT_CONTAINS(text, "OldRun::keep");
    EXPECT_CONTAINS(text, "MARTELLO_OLD_RUN=keep");
    std::_Exit(::testing::Test::HasFailure() || read(dir + "/model") != "old");
  };
  EXPECT_EXIT(run(), ::testing::ExitedWithCode(0), "");
}

TEST_F(LoggerDirTest, the_environment_answers) {
  make_old_run();
  setenv("MARTELLO_OLD_RUN", "delete", 1);
  set_logger_dir(dir);
  EXPECT_FALSE(fs::exists(dir + "/model"));
  put(dir + "/model", "old");
  setenv("MARTELLO_OLD_RUN", "burn", 1);
  EXPECT_CONTAINS(error_of([&] { set_logger_dir(dir); }), "MARTELLO_OLD_RUN is 'burn'");
  unsetenv("MARTELLO_OLD_RUN");
}

// A child with a terminal of its own.
int answer_at_a_terminal(const std::string& typed, const std::function<int()>& child) {
  const int master = posix_openpt(O_RDWR | O_NOCTTY);
  grantpt(master);
  unlockpt(master);
  const std::string name = ptsname(master);
  const pid_t pid = fork();
  if (pid == 0) {
    const int terminal = open(name.c_str(), O_RDWR);
    for (int file : {STDIN_FILENO, STDERR_FILENO}) dup2(terminal, file);
    std::_Exit(child());
  }
  EXPECT_EQ(::write(master, typed.data(), typed.size()), static_cast<ssize_t>(typed.size()));
  int status = 0;
  waitpid(pid, &status, 0);
  close(master);
  return WEXITSTATUS(status);
}

TEST_F(LoggerDirTest, at_a_terminal_it_asks_until_there_is_an_answer) {
  make_old_run();
  const auto use = [&] {
    set_logger_dir(dir);
    return fs::exists(dir + "/model") ? 3 : 4;
  };
  EXPECT_EQ(answer_at_a_terminal("what?\nk\n", use), 3);
  EXPECT_EQ(answer_at_a_terminal("d\n", use), 4);
}

TEST_F(LoggerDirTest, quitting_at_a_terminal_is_an_error) {
  make_old_run();
  EXPECT_EQ(answer_at_a_terminal("q\n",
                                 [&] {
                                   try {
                                     set_logger_dir(dir);
                                   } catch (const FailedPrecondition&) {
                                     return 5;
                                   }
                                   return 0;
                                 }),
            5);
}

TEST_F(LoggerDirTest, a_directory_that_cannot_be_made_is_named) {
  put(root + "/file", "");
  EXPECT_CONTAINS(error_of([&] { set_logger_dir(root + "/file"); }), "is a file, not a directory");
  EXPECT_CONTAINS(error_of([&] { set_logger_dir(root + "/file/x"); }), root + "/file/x");
  EXPECT_FALSE(find_logger_dir().has_value());
}

TEST_F(LoggerDirTest, a_directory_without_permission_is_refused) {
  fs::create_directories(dir);
  fs::permissions(root, fs::perms::all);
  fs::permissions(root + "/train_log", fs::perms::all);
  fs::permissions(dir, fs::perms::owner_read | fs::perms::owner_exec | fs::perms::others_read | fs::perms::others_exec);
  const auto run = [&] {
    // Root may write anywhere; nobody may not.
    if (geteuid() == 0 && setuid(65534) != 0) std::_Exit(2);
    EXPECT_CONTAINS(error_of([&] { set_logger_dir(dir); }), "Permission denied. Choose a directory");
    std::_Exit(::testing::Test::HasFailure());
  };
  EXPECT_EXIT(run(), ::testing::ExitedWithCode(0), "");
}

// A limit of the process stands for a full disk.
TEST_F(LoggerDirTest, a_full_disk_is_said_once_and_the_console_goes_on) {
  const auto run = [&] {
    signal(SIGXFSZ, SIG_IGN);
    set_logger_dir(dir);
    const rlimit limit = {fs::file_size(dir + "/log.log"), RLIM_INFINITY};
    setrlimit(RLIMIT_FSIZE, &limit);
    for (int i = 0; i < 2; ++i) info("line ", i);
    const bool is_right = console.lines.size() == 4 && console.lines[2] == "line 0" && console.lines[3] == "line 1" &&
                          console.lines[1].ends_with("/log.log': File too large. It misses lines.");
    std::_Exit(is_right ? 0 : 1);
  };
  EXPECT_EXIT(run(), ::testing::ExitedWithCode(0), "");
}

TEST_F(LoggerDirTest, eight_threads_write_whole_lines_to_the_file) {
  constexpr int kThreads = 8, kLines = 200;
  set_logger_dir(dir);
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([t] {
      for (int i = 0; i < kLines; ++i) info("<", std::string(300, static_cast<char>('a' + t)), ">");
    });
  }
  for (std::thread& thread : threads) thread.join();
  const auto lines = split(read(dir + "/log.log"), '\n');
  ASSERT_EQ(lines.size(), size_t{kThreads * kLines + 2});
  for (size_t i = 1; i + 1 < lines.size(); ++i) {
    const std::string body = lines[i].substr(lines[i].find('<'));
    ASSERT_EQ(body, str("<", std::string(300, body[1]), ">"));
  }
}

TEST_F(LoggerDirTest, auto_set_dir_is_named_after_the_program) {
  const fs::path before = fs::current_path();
  fs::current_path(root);
  auto_set_dir(OldRun::ask, "second");
  fs::current_path(before);
  EXPECT_EQ(get_logger_dir(), str("train_log/", program_invocation_short_name, ":second"));
}

TEST_F(LoggerDirTest, the_command_line_reads_back_in_a_shell) {
  EXPECT_CONTAINS(command_line(), program_invocation_short_name);
}

}  // namespace
}  // namespace martello::logger
