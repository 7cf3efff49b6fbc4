#include "driver.h"

#include <martello/base/strings.h>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace chaos {

namespace fs = std::filesystem;

pid_t start(const Start& how) {
  const pid_t process = fork();
  if (process != 0) return process;
  const int log = open((how.dir + "/stderr.txt").c_str(), O_WRONLY | O_CREAT | O_APPEND, 0666);
  dup2(log, STDERR_FILENO);
  for (const auto& [key, value] : how.environment) setenv(key.c_str(), value.c_str(), 1);
  setenv("OMP_WAIT_POLICY", "passive", 1);
  if (how.most_file_bytes >= 0) {
    const rlimit limit = {static_cast<rlim_t>(how.most_file_bytes), RLIM_INFINITY};
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  std::vector<char*> words = {const_cast<char*>(CHAOS_TRAIN), const_cast<char*>(how.dir.c_str())};
  for (const std::string& w : how.words) words.push_back(const_cast<char*>(w.c_str()));
  words.push_back(nullptr);
  execv(words[0], words.data());
  _exit(99);
}

int wait_for(pid_t process) {
  int status = 0;
  waitpid(process, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

int run(const Start& how) { return wait_for(start(how)); }

Folder::Folder() {
  // In memory where that is to be had: these tests sync thousands of times.
  std::string pattern = (fs::exists("/dev/shm") ? "/dev/shm" : fs::temp_directory_path().string()) + "/chaos_XXXXXX";
  path_ = mkdtemp(pattern.data());
}
Folder::~Folder() {
  if (::testing::Test::HasFailure() && getenv("MARTELLO_CHAOS_KEEP")) return;
  fs::remove_all(path_);
}

std::string Folder::read(const std::string& name) const {
  std::ifstream file(path_ + "/" + name, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

bool Folder::has(const std::string& name) const { return fs::exists(path_ + "/" + name); }

std::vector<std::string> Folder::list(const std::string& end) const {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(path_))
    if (entry.path().filename().string().ends_with(end)) names.push_back(entry.path().filename().string());
  return names;
}

std::string Folder::log() const { return read("stderr.txt"); }

const std::string& undisturbed(const std::vector<std::string>& words) {
  static std::map<std::string, std::string> digests;
  const std::string key = martello::join(words);
  if (const auto found = digests.find(key); found != digests.end()) return found->second;
  const Folder folder;
  EXPECT_EQ(run({folder.path(), words}), 0) << folder.log();
  return digests[key] = folder.read("digest.txt");
}

int effort() {
  const char* text = getenv("MARTELLO_CHAOS");
  return text ? std::max(1, atoi(text)) : 1;
}

bool can_preload() {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  return false;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
  return false;
#else
  return true;
#endif
#else
  return true;
#endif
}

}  // namespace chaos
