#include <martello/base/internal/log_file.h>
#include <martello/base/log.h>
#include <martello/base/logger_dir.h>
#include <martello/callbacks/monitors/internal/row_file.h>

#include <filesystem>
#include <fstream>

namespace martello::internal {
namespace {

namespace fs = std::filesystem;

// The last row that ends with a newline, and where it ends.
struct LastRow {
  std::string text;
  int64_t end = 0;
};

LastRow find_last_row(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  LastRow last;
  for (std::string line; std::getline(file, line) && !file.eof();) {
    last.end += static_cast<int64_t>(line.size()) + 1;
    last.text = std::move(line);
  }
  return last;
}

}  // namespace

std::optional<std::string> find_writer_dir(const std::string& given, std::string_view who) {
  MARTELLO_CHECK(given.empty() || fs::is_directory(given), "[", who, "] '", given, "' is no directory. Make it first.");
  if (!given.empty()) return given;
  auto dir = logger::find_logger_dir();
  if (!dir)
    logger::warn("[", who,
                 "] there is no log directory: it writes nothing. Call logger::auto_set_dir() before training.");
  return dir;
}

void RowFile::open(const std::string& path) {
  file_ = AppendFile(path);
  is_failing_ = false;
}

void RowFile::write() {
  if (!is_open() || pending_.empty()) return;
  try {
    file_.append(pending_);
    pending_.clear();
    if (is_failing_) logger::info("[file '", file_.path(), "'] can be written again; nothing is missing.");
    is_failing_ = false;
  } catch (const FileError& e) {
    if (!is_failing_) logger::error(e.what(), " Training goes on; the rows wait for room.");
    is_failing_ = true;
  }
}

void RowFile::flush() {
  if (!is_open()) return;
  if (!pending_.empty()) file_.append(pending_);
  pending_.clear();
  file_.sync();
}

void RowFile::close() {
  write();
  if (!pending_.empty())
    logger::error("[file '", file_.path(), "'] misses the last ", pending_.size(),
                  " bytes: they could not be written.");
  pending_.clear();
  file_.close();
}

void continue_or_move(const std::string& path, int64_t starting_epoch, std::string_view who,
                      const std::function<std::optional<int64_t>(const std::string& row)>& last_epoch) {
  if (!fs::exists(path) || fs::file_size(path) == 0) return;
  const LastRow last = find_last_row(path);
  const std::optional<int64_t> epoch = last.end == 0 ? std::nullopt : last_epoch(last.text);
  if (epoch && *epoch + 1 != starting_epoch) {
    const std::string moved = unused_path(path);
    fs::rename(path, moved);
    logger::warn("[", who, "] '", path, "' ends with epoch ", *epoch, ", but this run starts with epoch ",
                 starting_epoch, ": it is now '", moved,
                 "'. To go on, set starting_epoch or use AutoResumeTrainConfig.");
    return;
  }
  AppendFile file(path);
  if (last.end == file.size()) return;
  logger::warn("[", who, "] the last row of '", path, "' is cut and is dropped.");
  file.cut(last.end);
}

}  // namespace martello::internal
