#include <martello/base/atomic_file.h>
#include <martello/base/checked.h>
#include <martello/base/error.h>
#include <martello/codec/internal/safetensors_header.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <unordered_map>
#include <utility>

namespace martello {
namespace {

static_assert(std::endian::native == std::endian::little, "safetensors files are little-endian");

constexpr int64_t kLengthBytes = 8;

std::string_view bytes_of(const HostTensor& t) {
  return {reinterpret_cast<const char*>(t.raw()), static_cast<size_t>(t.num_bytes())};
}

}  // namespace

void write_safetensors(const std::string& path, const std::vector<NamedTensor>& tensors,
                       const std::map<std::string, std::string>& metadata) {
  internal::SafetensorsHeader header{.entries = {}, .metadata = metadata};
  std::unordered_map<std::string_view, const HostTensor*> values;
  for (const NamedTensor& t : tensors) {
    header.entries.push_back({.name = t.name, .dtype = t.value.dtype(), .shape = t.value.shape()});
    values[t.name] = &t.value;
  }
  std::string text = encode_header(header);
  text.append(static_cast<size_t>(align_up(static_cast<int64_t>(text.size()), 8)) - text.size(), ' ');
  MARTELLO_CHECK(static_cast<int64_t>(text.size()) <= SafetensorsFile::kMostHeaderBytes, "[safetensors '", path,
                 "'] its header would have ", text.size(), " bytes; readers refuse more than ",
                 SafetensorsFile::kMostHeaderBytes, ".");
  const auto length = static_cast<uint64_t>(text.size());
  AtomicFile file(path);
  file.append({reinterpret_cast<const char*>(&length), sizeof length});
  file.append(text);
  for (const auto& entry : header.entries) file.append(bytes_of(*values.at(entry.name)));
  file.commit();
}

SafetensorsFile::SafetensorsFile(const std::string& path) : path_(path) {
  file_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file_ < 0 && errno == ENOENT) throw NotFound(str("[safetensors '", path, "'] there is no such file."));
  if (file_ < 0) throw FileError(str("[safetensors '", path, "'] cannot open: ", strerror(errno), "."));
  try {
    read_header();
  } catch (const InvalidArgument& e) {
    ::close(file_);
    refuse(e.what());
  } catch (...) {
    ::close(file_);
    throw;
  }
}

SafetensorsFile::~SafetensorsFile() {
  if (file_ >= 0) ::close(file_);
}

SafetensorsFile::SafetensorsFile(SafetensorsFile&& other) noexcept
    : file_(std::exchange(other.file_, -1)),
      path_(std::move(other.path_)),
      data_begin_(other.data_begin_),
      entries_(std::move(other.entries_)),
      metadata_(std::move(other.metadata_)) {}

void SafetensorsFile::refuse(std::string_view why) const {
  throw InvalidArgument(str("[safetensors '", path_, "'] ", why));
}

void SafetensorsFile::read_header() {
  struct stat found;
  if (fstat(file_, &found) != 0)
    throw FileError(str("[safetensors '", path_, "'] cannot stat: ", strerror(errno), "."));
  MARTELLO_CHECK(S_ISREG(found.st_mode), "is no regular file.");
  const int64_t bytes = found.st_size;
  MARTELLO_CHECK(bytes >= kLengthBytes, "has ", bytes, " bytes, too few for the length of a header.");
  uint64_t length = 0;
  read_at(0, reinterpret_cast<std::byte*>(&length), kLengthBytes);
  MARTELLO_CHECK(length <= static_cast<uint64_t>(kMostHeaderBytes), "its header has ", length, " bytes; more than ",
                 kMostHeaderBytes, " are refused.");
  data_begin_ = kLengthBytes + static_cast<int64_t>(length);
  MARTELLO_CHECK(data_begin_ <= bytes, "its header of ", length, " bytes ends behind the file, which has ", bytes,
                 ". It was cut.");
  std::string text(length, '\0');
  read_at(kLengthBytes, reinterpret_cast<std::byte*>(text.data()), static_cast<int64_t>(length));
  auto header = internal::decode_header(text, bytes - data_begin_);
  entries_ = std::move(header.entries);
  metadata_ = std::move(header.metadata);
}

void SafetensorsFile::read_at(int64_t offset, std::byte* to, int64_t bytes) const {
  while (bytes > 0) {
    const ssize_t got = pread(file_, to, static_cast<size_t>(bytes), offset);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw FileError(str("[safetensors '", path_, "'] cannot read: ", strerror(errno), "."));
    if (got == 0) throw FileError(str("[safetensors '", path_, "'] became shorter while it was read."));
    to += got;
    offset += got;
    bytes -= got;
  }
}

const SafetensorsFile::Entry* SafetensorsFile::find(std::string_view name) const {
  const auto found = std::lower_bound(entries_.begin(), entries_.end(), name,
                                      [](const Entry& e, std::string_view n) { return e.name < n; });
  return found != entries_.end() && found->name == name ? &*found : nullptr;
}

HostTensor SafetensorsFile::read(std::string_view name) const {
  const Entry* entry = find(name);
  if (!entry) {
    std::vector<std::string> names;
    for (const Entry& e : entries_) names.push_back(e.name);
    throw NotFound(str("[safetensors '", path_, "'] has no tensor '", name, "'.", did_you_mean(name, names)));
  }
  HostTensor value(entry->shape, entry->dtype);
  read_at(data_begin_ + entry->begin, value.mutable_raw(), value.num_bytes());
  if (entry->dtype != boolean) return value;
  for (int64_t i = 0; i < value.num_elements(); ++i)
    if (std::to_integer<int>(value.raw()[i]) > 1)
      refuse(str("tensor '", name, "' is bool, but its element ", i, " is neither 0 nor 1."));
  return value;
}

}  // namespace martello
