#include <martello/base/internal/log_file.h>
#include <martello/base/log.h>
#include <martello/base/logger_dir.h>
#include <martello/base/state.h>
#include <martello/callbacks/monitors/internal/row_file.h>
#include <martello/codec/crc32c.h>

#include <algorithm>
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

// Of its first bytes; none when it has fewer.
std::optional<uint32_t> crc_of(const std::string& path, int64_t bytes) {
  std::ifstream file(path, std::ios::binary);
  std::string piece(1 << 20, '\0');
  uint32_t crc = 0;
  while (bytes > 0) {
    const auto wanted = static_cast<std::streamsize>(std::min<int64_t>(bytes, static_cast<int64_t>(piece.size())));
    if (!file.read(piece.data(), wanted)) return std::nullopt;
    crc = crc32c({piece.data(), static_cast<size_t>(wanted)}, crc);
    bytes -= wanted;
  }
  return crc;
}

}  // namespace

void FileMark::state(State& s) {
  s("size", size);
  s("crc", crc);
}

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
  crc_ = crc_of(path, file_.size()).value_or(0);
  is_failing_ = false;
}

void RowFile::open_new(const std::string& path) {
  file_ = AppendFile(path);
  file_.cut(0);
  crc_ = 0;
  is_failing_ = false;
}

bool RowFile::open_at(const std::string& path, const FileMark& mark) {
  pending_.clear();
  const bool is_as_marked = mark.size >= 0 && crc_of(path, mark.size) == mark.crc;
  if (!is_as_marked && fs::exists(path)) {
    const std::string moved = unused_path(path);
    fs::rename(path, moved);
    logger::error("[file '", path, "'] is not what the checkpoint has seen (its first ", mark.size,
                  " bytes): it is now '", moved, "', and a new one begins.");
  } else if (!is_as_marked) {
    logger::error("[file '", path, "'] is gone; the checkpoint has seen ", mark.size, " bytes. A new one begins.");
  }
  open(path);
  if (!is_as_marked) return false;
  file_.cut(mark.size);
  crc_ = static_cast<uint32_t>(mark.crc);
  return true;
}

void RowFile::append_pending() {
  file_.append(pending_);
  crc_ = crc32c(pending_, crc_);
  pending_.clear();
}

void RowFile::write() {
  if (!is_open() || pending_.empty()) return;
  try {
    append_pending();
    if (is_failing_) logger::info("[file '", file_.path(), "'] can be written again; nothing is missing.");
    is_failing_ = false;
  } catch (const FileError& e) {
    if (!is_failing_) logger::error(e.what(), " Training goes on; the rows wait for room.");
    is_failing_ = true;
  }
}

void RowFile::flush() {
  if (!is_open()) return;
  if (!pending_.empty()) append_pending();
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

void put_aside(const std::string& path, std::string_view who) {
  if (!fs::exists(path) || fs::file_size(path) == 0) return;
  const std::string moved = unused_path(path);
  fs::rename(path, moved);
  logger::info("[", who, "] '", path, "' is of an attempt that left no checkpoint: it is now '", moved, "'.");
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
