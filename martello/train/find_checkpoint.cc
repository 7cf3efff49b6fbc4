#include <martello/base/append_file.h>
#include <martello/base/error.h>
#include <martello/base/log.h>
#include <martello/base/logger_dir.h>
#include <martello/train/internal/find_checkpoint.h>

#include <algorithm>
#include <filesystem>

namespace martello {
namespace {

std::vector<CheckpointFile> list_all(const std::vector<std::string>& dirs) {
  std::vector<CheckpointFile> files;
  for (const std::string& dir : dirs)
    for (CheckpointFile& file : list_checkpoints(dir)) files.push_back(std::move(file));
  std::stable_sort(files.begin(), files.end(), [](const auto& a, const auto& b) { return a.time > b.time; });
  return files;
}

std::optional<Checkpoint> newest_of(const std::vector<std::string>& dirs) {
  const std::vector<CheckpointFile> files = list_all(dirs);
  for (const CheckpointFile& file : files) {
    try {
      return read_checkpoint(file.path);
    } catch (const Error& e) {
      logger::error("[resume] '", file.path, "' cannot be used: ", e.what(), " The checkpoint before it is tried.");
    }
  }
  if (!files.empty())
    throw FailedPrecondition(str("[resume] none of the ", files.size(), " checkpoints in ", join(dirs),
                                 " can be read. Restore one, or start over with \"none\"."));
  return std::nullopt;
}

}  // namespace

std::optional<Checkpoint> find_checkpoint(const std::string& from, std::vector<std::string> dirs) {
  if (from == "none") return std::nullopt;
  MARTELLO_CHECK(!from.empty(), "[resume] .from is empty. Give \"auto\", \"none\" or the path of a checkpoint.");
  if (from != "auto") {
    if (!std::filesystem::is_directory(from)) return read_checkpoint(from);
    const auto found = newest_of({from});
    if (!found) throw NotFound(str("[resume] the directory '", from, "' has no checkpoint."));
    return found;
  }
  if (dirs.empty())
    if (const auto dir = logger::find_logger_dir()) dirs.push_back(*dir);
  auto found = newest_of(dirs);
  if (!found)
    logger::info("[resume] there is no checkpoint", dirs.empty() ? "" : " in ", join(dirs),
                 ": the run starts from the beginning.");
  return found;
}

}  // namespace martello
