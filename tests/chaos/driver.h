#pragma once
#include <sys/types.h>

#include <map>
#include <string>
#include <vector>

// Starts the program that is made to be killed, and looks at what it leaves behind.
namespace chaos {

struct Start {
  std::string dir;
  std::vector<std::string> words = {};                  // key=value
  std::map<std::string, std::string> environment = {};  // besides this process's
  long most_file_bytes = -1;                            // RLIMIT_FSIZE
};

// Of a process: its exit code, or minus the signal that ended it.
pid_t start(const Start& how);
int wait_for(pid_t process);
int run(const Start& how);

class Folder {
 public:
  Folder();
  ~Folder();
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  const std::string& path() const { return path_; }
  std::string read(const std::string& name) const;
  bool has(const std::string& name) const;
  std::vector<std::string> list(const std::string& end) const;  // names that end so
  std::string log() const;                                      // of all processes so far

 private:
  std::string path_;
};

// What a run gives that nobody interrupts, with these words.
const std::string& undisturbed(const std::vector<std::string>& words);

// A number that tests multiply their work by: MARTELLO_CHAOS, 1 unless set.
int effort();
// Preloading does not go together with sanitizers.
bool can_preload();

}  // namespace chaos
