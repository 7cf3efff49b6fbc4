#include <martello/base/append_file.h>
#include <martello/base/error.h>
#include <martello/train/checkpoint.h>

#include <sys/stat.h>

#include <algorithm>
#include <filesystem>

namespace martello {
namespace {

namespace fs = std::filesystem;

bool is_checkpoint_name(const std::string& name) {
  constexpr std::string_view kBegin = "model-", kEnd = ".safetensors";
  if (!name.starts_with(kBegin) || !name.ends_with(kEnd)) return false;
  const std::string_view number(name.data() + kBegin.size(), name.size() - kBegin.size() - kEnd.size());
  return !number.empty() && number.find_first_not_of("0123456789") == std::string_view::npos;
}

double changed_at(const std::string& path) {
  struct stat found;
  if (stat(path.c_str(), &found) != 0) return 0;
  return static_cast<double>(found.st_mtim.tv_sec) + 1e-9 * static_cast<double>(found.st_mtim.tv_nsec);
}

CheckpointFile look_at(const std::string& path) {
  CheckpointFile file{path, std::nullopt, {}, changed_at(path)};
  try {
    file.info = read_checkpoint_info(path);
    file.time = file.info->saved_at;
  } catch (const Error& e) {
    file.why = e.what();
  }
  return file;
}

}  // namespace

std::vector<CheckpointFile> list_checkpoints(const std::string& dir) {
  std::vector<CheckpointFile> files;
  std::error_code failure;
  for (fs::directory_iterator i(dir, failure), end; !failure && i != end; i.increment(failure))
    if (is_checkpoint_name(i->path().filename().string())) files.push_back(look_at(i->path().string()));
  if (failure) throw FileError(str("[checkpoints] cannot read the directory '", dir, "': ", failure.message(), "."));
  const auto age = [](const CheckpointFile& f) { return std::pair(f.time, f.info ? f.info->global_step : 0); };
  std::sort(files.begin(), files.end(), [&](const auto& a, const auto& b) { return age(a) > age(b); });
  return files;
}

// A newest one that cannot be read may well be of such a run: it is looked into, not started over. A run without any
// was killed before its first.
bool has_unfinished_run(const std::string& dir) {
  if (!fs::exists(dir)) return false;
  const std::vector<CheckpointFile> files = list_checkpoints(dir);
  if (files.empty()) return fs::exists(dir + "/log.log");
  const auto& info = files.front().info;
  return !info || (!info->is_finished() && !info->is_stopped());
}

}  // namespace martello
