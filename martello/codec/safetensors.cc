#include <martello/base/atomic_file.h>
#include <martello/base/checked.h>
#include <martello/base/error.h>
#include <martello/codec/crc32c.h>
#include <martello/codec/internal/safetensors_checksums.h>
#include <martello/codec/internal/safetensors_header.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <utility>

namespace martello {
namespace {

static_assert(std::endian::native == std::endian::little, "safetensors files are little-endian");

constexpr int64_t kLengthBytes = 8, kMostExtraBytes = 64 << 20;
// How much is written at once, so that whoever wants to end it is asked often; and read, so that it stays in the cache.
constexpr size_t kPieceBytes = 4 << 20, kReadBytes = 256 << 10;

std::string_view bytes_of(const HostTensor& t) {
  return {reinterpret_cast<const char*>(t.raw()), static_cast<size_t>(t.num_bytes())};
}

// What parsing a header takes at most: every value of the JSON follows one of these signs, and its text is copied, most
// often into the message of an error.
int64_t parsing_bytes(std::string_view text) {
  constexpr int64_t kBytesPerValue = 200, kCopies = 8;
  const auto values =
      std::count_if(text.begin(), text.end(), [](char c) { return c == ',' || c == ':' || c == '[' || c == '{'; });
  return kCopies * static_cast<int64_t>(text.size()) + kBytesPerValue * static_cast<int64_t>(values);
}

void check_parsing(std::string_view text, int64_t file_bytes) {
  MARTELLO_CHECK(parsing_bytes(text) <= file_bytes + kMostExtraBytes, "its header of ", text.size(),
                 " bytes has such long texts or so many values that reading it could take ", parsing_bytes(text),
                 " bytes of memory, which is refused for a file of ", file_bytes, ".");
}

std::string header_text(const std::string& path, internal::SafetensorsHeader& header) {
  std::string text = encode_header(header);
  text.append(static_cast<size_t>(align_up(static_cast<int64_t>(text.size()), 8)) - text.size(), ' ');
  MARTELLO_CHECK(static_cast<int64_t>(text.size()) <= SafetensorsFile::kMostHeaderBytes, "[safetensors '", path,
                 "'] its header would have ", text.size(), " bytes; readers refuse more than ",
                 SafetensorsFile::kMostHeaderBytes, ".");
  try {
    check_parsing(text, static_cast<int64_t>(text.size()) + (header.entries.empty() ? 0 : header.entries.back().end));
  } catch (const InvalidArgument& e) {
    throw InvalidArgument(str("[safetensors '", path, "'] ", e.what()));
  }
  return text;
}

void append_in_pieces(AtomicFile& file, std::string_view bytes, const std::function<void()>& check) {
  for (size_t at = 0; at < bytes.size(); at += kPieceBytes) {
    if (check) check();
    file.append(bytes.substr(at, kPieceBytes));
  }
}

}  // namespace

void write_safetensors(const std::string& path, const std::vector<NamedTensor>& tensors,
                       const std::map<std::string, std::string>& metadata, const SafetensorsOptions& options) {
  internal::SafetensorsHeader header{.entries = {}, .metadata = metadata};
  std::map<std::string_view, std::string_view> values;  // by name, as readers sort them
  for (const NamedTensor& t : tensors) {
    header.entries.push_back({.name = t.name, .dtype = t.value.dtype(), .shape = t.value.shape()});
    values[t.name] = bytes_of(t.value);
  }
  if (options.checksums) internal::add_checksums(header.metadata, values);
  std::string text = header_text(path, header);
  if (options.checksums) internal::seal_header(text);
  const auto length = static_cast<uint64_t>(text.size());
  AtomicFile file(path);
  file.append({reinterpret_cast<const char*>(&length), sizeof length});
  file.append(text);
  for (const auto& entry : header.entries) append_in_pieces(file, values.at(entry.name), options.check);
  file.commit();
}

SafetensorsFile::SafetensorsFile(const std::string& path) : path_(path) {
  file_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);  // a pipe would wait for its other end
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
      metadata_(std::move(other.metadata_)),
      checksums_(std::move(other.checksums_)),
      has_checksums_(other.has_checksums_) {}

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
  check_parsing(text, bytes);
  auto header = internal::decode_header(text, bytes - data_begin_);
  entries_ = std::move(header.entries);
  metadata_ = std::move(header.metadata);
  auto sums = internal::take_checksums(metadata_, text, entries_.size());
  has_checksums_ = sums.has_value();
  if (sums) checksums_ = std::move(*sums);
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

void SafetensorsFile::check_tensor(const Entry& entry, uint32_t crc) const {
  const uint32_t written = checksums_[static_cast<size_t>(&entry - entries_.data())];
  if (crc != written)
    refuse(str("tensor '", entry.name, "' is damaged: its checksum is ", internal::hex(crc), ", it was written with ",
               internal::hex(written), "."));
}

uint32_t SafetensorsFile::checksum_at(const Entry& entry) const {
  std::string piece(std::min<size_t>(kReadBytes, static_cast<size_t>(entry.end - entry.begin)), '\0');
  uint32_t crc = 0;
  for (int64_t at = entry.begin; at < entry.end; at += static_cast<int64_t>(piece.size())) {
    const auto bytes = std::min(static_cast<int64_t>(piece.size()), entry.end - at);
    read_at(data_begin_ + at, reinterpret_cast<std::byte*>(piece.data()), bytes);
    crc = crc32c({piece.data(), static_cast<size_t>(bytes)}, crc);
  }
  return crc;
}

void SafetensorsFile::verify() const {
  if (!has_checksums())
    throw FailedPrecondition(str("[safetensors '", path_, "'] has no checksums, so nothing can be verified."));
  for (const Entry& entry : entries_) check_tensor(entry, checksum_at(entry));
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
  if (!checksums_.empty()) check_tensor(*entry, crc32c(bytes_of(value)));
  if (entry->dtype != boolean) return value;
  for (int64_t i = 0; i < value.num_elements(); ++i)
    if (std::to_integer<int>(value.raw()[i]) > 1)
      refuse(str("tensor '", name, "' is bool, but its element ", i, " is neither 0 nor 1."));
  return value;
}

}  // namespace martello
