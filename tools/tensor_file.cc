#include "tensor_file.h"

#include "command.h"

#include <martello/codec/npz.h>
#include <martello/codec/safetensors.h>
#include <martello/train/checkpoint_contents.h>
#include <martello/train/internal/checkpoint_metadata.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <memory>

namespace martello::tools {
namespace {

namespace fs = std::filesystem;

TensorFile open_safetensors(const std::string& path) {
  const auto file = std::make_shared<const SafetensorsFile>(path);
  TensorFile tensors{.path = path, .format = "safetensors", .entries = {}, .metadata = file->metadata(), .read = {}};
  for (const auto& e : file->entries()) tensors.entries.push_back({e.name, e.dtype, e.shape});
  tensors.read = [file](const std::string& name) { return file->read(name); };
  return tensors;
}

TensorFile open_npz(const std::string& path) {
  const auto values = std::make_shared<std::map<std::string, HostTensor>>();
  for (auto& [name, value] : read_npz(path)) (*values)[name] = std::move(value);
  TensorFile tensors{.path = path, .format = "npz", .entries = {}, .metadata = {}, .read = {}};
  for (const auto& [name, value] : *values) tensors.entries.push_back({name, value.dtype(), value.shape()});
  tensors.read = [values, path](const std::string& name) {
    const auto found = values->find(name);
    if (found != values->end()) return found->second;
    std::vector<std::string> names;
    for (const auto& [other, value] : *values) names.push_back(other);
    throw NotFound(str("'", path, "' has no array '", name, "'.", did_you_mean(name, names)));
  };
  return tensors;
}

}  // namespace

std::string TensorEntry::spec() const { return str(dtype, shape); }

const TensorEntry* TensorFile::find(const std::string& name) const {
  for (const TensorEntry& e : entries)
    if (e.name == name) return &e;
  return nullptr;
}

int64_t TensorFile::num_elements() const {
  int64_t sum = 0;
  for (const TensorEntry& e : entries) sum += is_reserved(e.name) ? 0 : e.shape.num_elements();
  return sum;
}

int64_t TensorFile::bytes() const {
  int64_t sum = 0;
  for (const TensorEntry& e : entries) sum += e.bytes();
  return sum;
}

TensorFile open_tensor_file(const std::string& path) {
  if (fs::is_directory(path)) throw InvalidArgument(str("'", path, "' is a directory. Name one of its files."));
  return path.ends_with(".npz") ? open_npz(path) : open_safetensors(path);
}

bool is_checkpoint(const TensorFile& file) { return file.metadata.contains(kCheckpointFormatKey); }
bool is_reserved(const std::string& name) { return name.starts_with(kCheckpointPrefix); }

int64_t step_of(const std::string& path) {
  constexpr std::string_view kStart = "model-", kEnd = ".safetensors";
  const std::string name = fs::path(path).filename().string();
  if (!name.starts_with(kStart) || !name.ends_with(kEnd)) return -1;
  const std::string digits = name.substr(kStart.size(), name.size() - kStart.size() - kEnd.size());
  int64_t step = -1;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), step);
  return error == std::errc() && end == digits.data() + digits.size() && step >= 0 ? step : -1;
}

std::vector<std::string> checkpoints_of(const std::string& path) {
  if (!fs::exists(path)) throw NotFound(str("there is no file or directory '", path, "'."));
  if (!fs::is_directory(path)) return {path};
  std::vector<std::string> files;
  for (const auto& e : fs::directory_iterator(path))
    if (e.is_regular_file() && step_of(e.path().string()) >= 0) files.push_back(e.path().string());
  std::sort(files.begin(), files.end(),
            [](const std::string& a, const std::string& b) { return step_of(a) < step_of(b); });
  return files;
}

}  // namespace martello::tools
