#pragma once
#include <martello/base/append_file.h>

#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace martello {
class State;
}

namespace martello::internal {

// The directory of a monitor's file: the one that was given, else the logger's. Without any the monitor does nothing,
// and says so.
std::optional<std::string> find_writer_dir(const std::string& given, std::string_view who);

// How much of a file a checkpoint counts on.
struct FileMark {
  int64_t size = 0;
  uint64_t crc = 0;  // of these bytes
  void state(State& s);
};

// A file that a monitor appends whole rows to. When the disk refuses them it says so once and the rows wait: a monitor
// that cannot write never stops training, and what is on the disk stays readable.
class RowFile {
 public:
  void open(const std::string& path);      // rows may have been added before
  void open_new(const std::string& path);  // without what an earlier process left there
  // Drops what the file has beyond the mark, and rows that wait. A file that is not what was marked is put aside, with
  // an error in the log, and a new one begins: then false.
  bool open_at(const std::string& path, const FileMark& mark);
  FileMark mark() const { return {size(), crc_}; }
  bool is_open() const { return file_.is_open(); }
  int64_t size() const { return file_.size(); }
  void add(std::string_view row) { pending_ += row; }
  size_t pending_bytes() const { return pending_.size(); }
  void write();  // what waits; throws nothing
  void flush();  // the same, on the disk when it returns; throws FileError
  void close();

 private:
  void append_pending();

  AppendFile file_;
  uint32_t crc_ = 0;
  std::string pending_;
  bool is_failing_ = false;
};

// Renames a file, if there is one, to `path`.MMDD-HHMMSS, with a line in the log.
void put_aside(const std::string& path, std::string_view who);

// A file of rows that an earlier run left behind. Its last row is complete afterwards. When its last epoch is not the
// one before `starting_epoch`, it is moved to `path`.MMDD-HHMMSS, with a warning. `last_epoch` reads a row.
void continue_or_move(const std::string& path, int64_t starting_epoch, std::string_view who,
                      const std::function<std::optional<int64_t>(const std::string& row)>& last_epoch);

}  // namespace martello::internal
