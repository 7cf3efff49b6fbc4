#include <martello/base/append_file.h>
#include <martello/base/error.h>
#include <martello/codec/internal/zip_reader.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace martello::internal {
namespace {

constexpr int64_t kMostExtra = 64 << 20, kMostDirectory = 16 << 20;
// What an array takes besides its data: an entry, a name, a shape of the highest rank, a buffer.
constexpr uint64_t kBytesPerEntry = 1024;
// Least sizes of a file's entry in the directory and of the header in front of its bytes.
constexpr uint64_t kDirectoryEntry = 46;
constexpr int64_t kLocalHeader = 30;

// Little-endian numbers of a record.
class Record {
 public:
  Record(std::string_view bytes, std::string_view what) : bytes_(bytes), what_(what) {}
  uint64_t take(size_t bytes) {
    const std::string_view part = skip(bytes);
    uint64_t value = 0;
    for (size_t i = 0; i < bytes; ++i) value |= uint64_t{static_cast<unsigned char>(part[i])} << (8 * i);
    return value;
  }
  std::string_view skip(uint64_t bytes) {
    MARTELLO_CHECK(bytes <= bytes_.size(), "its ", what_, " was cut.");
    const std::string_view part = bytes_.substr(0, bytes);
    bytes_.remove_prefix(bytes);
    return part;
  }
  bool empty() const { return bytes_.empty(); }

 private:
  std::string_view bytes_, what_;
};

constexpr uint64_t kIn64Bits = 0xffffffff;

int64_t checked_size(uint64_t value, int64_t limit, std::string_view what) {
  MARTELLO_CHECK(value <= static_cast<uint64_t>(limit), "its ", what, " is ", value, ", beyond ", limit, ".");
  return static_cast<int64_t>(value);
}

// Sizes that do not fit into 32 bits stand in a field behind.
void take_wide_sizes(ZipEntry& e, std::string_view extra) {
  for (Record r(extra, "extra fields"); !r.empty();) {
    const uint64_t id = r.take(2);
    Record field(r.skip(r.take(2)), "field of 64-bit sizes");
    if (id != 1) continue;
    for (uint64_t* value : {&e.size, &e.packed, &e.offset})
      if (*value == kIn64Bits) *value = field.take(8);
  }
}

ZipEntry take_entry(Record& r) {
  MARTELLO_CHECK(r.take(4) == 0x02014b50, "its directory has an entry that is none.");
  r.skip(4);
  const uint64_t flags = r.take(2);
  MARTELLO_CHECK((flags & 1) == 0, "is encrypted.");
  ZipEntry e;
  e.method = r.take(2);
  r.skip(4);
  e.crc = r.take(4);
  e.packed = r.take(4);
  e.size = r.take(4);
  const uint64_t name = r.take(2), extra = r.take(2), comment = r.take(2);
  r.skip(8);
  e.offset = r.take(4);
  e.name = r.skip(name);
  take_wide_sizes(e, r.skip(extra));
  r.skip(comment);
  return e;
}

struct Directory {
  uint64_t count = 0, bytes = 0, offset = 0;
};

// The record at the end of an archive says where its directory is; behind it there may be a comment.
Directory find_directory(const ZipFile& file) {
  constexpr int64_t kEnd = 22, kMostComment = 65535, kLocator = 20;
  MARTELLO_CHECK(file.size() >= 0, "is no regular file.");
  MARTELLO_CHECK(file.size() >= kEnd, "has ", file.size(), " bytes, too few for an archive.");
  const int64_t tail = std::min(file.size(), kEnd + kMostComment);
  const std::string text = file.read(file.size() - tail, tail);
  const size_t at = text.rfind("PK\x05\x06");
  MARTELLO_CHECK(at != std::string::npos && text.size() - at >= static_cast<size_t>(kEnd),
                 "is no zip archive, or was cut.");
  Record r(std::string_view(text).substr(at), "end");
  r.skip(10);
  Directory d{r.take(2), r.take(4), r.take(4)};
  const int64_t end = file.size() - tail + static_cast<int64_t>(at);
  if (d.count != 0xffff && d.bytes != kIn64Bits && d.offset != kIn64Bits) return d;
  const std::string locator = file.read(end - kLocator, kLocator);
  Record l(locator, "locator");
  MARTELLO_CHECK(l.take(4) == 0x07064b50, "has no 64-bit directory where one is announced.");
  l.skip(4);
  const std::string wide = file.read(checked_size(l.take(8), file.size(), "place of the directory"), 56);
  Record w(wide, "64-bit end");
  MARTELLO_CHECK(w.take(4) == 0x06064b50, "has no 64-bit directory where one is announced.");
  w.skip(20);
  w.skip(8);
  return {w.take(8), w.take(8), w.take(8)};
}

std::vector<ZipEntry> take_entries(std::string_view bytes, uint64_t count) {
  MARTELLO_CHECK(count <= bytes.size() / kDirectoryEntry, "says that it has ", count, " files, in a directory of ",
                 bytes.size(), " bytes.");
  std::vector<ZipEntry> entries;
  entries.reserve(count);
  for (Record r(bytes, "directory"); !r.empty();) {
    entries.push_back(take_entry(r));
    MARTELLO_CHECK(entries.size() <= count, "says that it has ", count, " files, but lists more.");
  }
  MARTELLO_CHECK(entries.size() == count, "says that it has ", count, " files, but lists ", entries.size(), ".");
  return entries;
}

void check_memory(const std::vector<ZipEntry>& entries, int64_t file_bytes) {
  const auto limit = static_cast<uint64_t>(file_bytes + kMostExtra);
  uint64_t sum = 0;
  for (const ZipEntry& e : entries)
    MARTELLO_CHECK(e.size <= limit && (sum += e.size + kBytesPerEntry) <= limit, "would unpack to more than ", limit,
                   " bytes with its ", entries.size(), " files. Write it with numpy.savez, not compressed.");
}

// Reads the header in front of the entry's bytes.
void locate(const ZipFile& file, ZipEntry& e) {
  const int64_t at = checked_size(e.offset, file.size(), "place of an entry");
  const std::string local = file.read(at, kLocalHeader);
  Record r(local, "local header");
  MARTELLO_CHECK(r.take(4) == 0x04034b50, "has no entry where '", e.name, "' is announced.");
  r.skip(22);
  const auto name = static_cast<int64_t>(r.take(2)), extra = static_cast<int64_t>(r.take(2));
  const std::string found = file.read(at + kLocalHeader, name);
  MARTELLO_CHECK(found == e.name, "has ", martello::quoted(found), " where its directory announces ",
                 martello::quoted(e.name), ".");
  e.data_begin = at + kLocalHeader + name + extra;
}

void check_places(const std::vector<ZipEntry>& entries, int64_t directory) {
  std::vector<const ZipEntry*> sorted;
  for (const ZipEntry& e : entries) sorted.push_back(&e);
  std::sort(sorted.begin(), sorted.end(), [](const auto* a, const auto* b) { return a->offset < b->offset; });
  for (size_t i = 0; i < sorted.size(); ++i) {
    const ZipEntry& e = *sorted[i];
    const bool is_last = i + 1 == sorted.size();
    const int64_t end = is_last ? directory : static_cast<int64_t>(sorted[i + 1]->offset);
    MARTELLO_CHECK(e.data_begin <= end && e.packed <= static_cast<uint64_t>(end - e.data_begin), "has '", e.name,
                   "' on the same bytes as ", is_last ? "its directory" : str("'", sorted[i + 1]->name, "'"), ".");
  }
}

}  // namespace

ZipFile::ZipFile(const std::string& path)
    : path_(path), file_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {
  if (file_ < 0 && errno == ENOENT) throw NotFound(str("[npz '", path, "'] there is no such file."));
  struct stat found;
  if (file_ < 0 || fstat(file_, &found) != 0)
    throw FileError(str("[npz '", path, "'] cannot open: ", strerror(errno), "."));
  size_ = S_ISREG(found.st_mode) ? found.st_size : -1;
}

ZipFile::~ZipFile() { ::close(file_); }

void ZipFile::read(int64_t at, void* to, int64_t bytes) const {
  MARTELLO_CHECK(at >= 0 && bytes >= 0 && bytes <= size_ && at <= size_ - bytes, "was cut: ", bytes, " bytes at ", at,
                 " are asked for, it has ", size_, ".");
  for (auto* p = static_cast<char*>(to); bytes > 0;) {
    const ssize_t got = pread(file_, p, static_cast<size_t>(bytes), at);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) throw FileError(str("[npz '", path_, "'] cannot read: ", strerror(errno), "."));
    p += got, at += got, bytes -= got;
  }
}

std::string ZipFile::read(int64_t at, int64_t bytes) const {
  std::string text(static_cast<size_t>(std::clamp<int64_t>(bytes, 0, size_)), '\0');
  read(at, text.data(), bytes);
  return text;
}

std::vector<ZipEntry> read_directory(const ZipFile& file) {
  const Directory d = find_directory(file);
  const int64_t begin = checked_size(d.offset, file.size(), "place of the directory");
  std::vector<ZipEntry> entries = take_entries(
      file.read(begin, checked_size(d.bytes, std::min(file.size(), kMostDirectory), "directory's size")), d.count);
  check_memory(entries, file.size());
  for (ZipEntry& e : entries) locate(file, e);
  check_places(entries, begin);
  return entries;
}

ZipReader::ZipReader(const ZipFile& file, const ZipEntry& e)
    : file_(file), entry_(e), at_(e.data_begin), left_(static_cast<int64_t>(e.packed)) {
  MARTELLO_CHECK(e.method == 0 || e.method == Z_DEFLATED, "is packed by method ", e.method, ", which is not known.");
  MARTELLO_CHECK(e.method != 0 || e.packed == e.size, "is not packed, but ", e.packed, " of its ", e.size,
                 " bytes are there.");
  const bool is_ready = e.method == 0 || inflateInit2(&stream_, -MAX_WBITS) == Z_OK;
  MARTELLO_CHECK(is_ready, "cannot be unpacked: no memory.");
}

ZipReader::~ZipReader() {
  if (entry_.method == Z_DEFLATED) inflateEnd(&stream_);
}

void ZipReader::read(void* to, int64_t bytes) {
  auto* p = static_cast<char*>(to);
  if (entry_.method == 0) {
    MARTELLO_CHECK(bytes <= left_, "ends before its data.");
    file_.read(at_, p, bytes);
    at_ += bytes, left_ -= bytes;
  } else {
    unpack(p, bytes);
  }
  crc_ = crc32_z(crc_, reinterpret_cast<const Bytef*>(p), static_cast<size_t>(bytes));
}

void ZipReader::finish() const {
  MARTELLO_CHECK(crc_ == entry_.crc, "is damaged: its checksum is ", crc_, ", it was written with ", entry_.crc, ".");
}

void ZipReader::unpack(char* to, int64_t bytes) {
  while (bytes > 0) {
    if (stream_.avail_in == 0) refill();
    stream_.next_out = reinterpret_cast<Bytef*>(to);
    stream_.avail_out = static_cast<uInt>(std::min<int64_t>(bytes, 1 << 30));
    const uInt wanted = stream_.avail_out;
    const int status = inflate(&stream_, Z_NO_FLUSH);
    const auto got = static_cast<int64_t>(wanted - stream_.avail_out);
    to += got, bytes -= got;
    const bool is_at_end = status == Z_STREAM_END && bytes == 0;
    MARTELLO_CHECK(status == Z_OK || is_at_end, "cannot be unpacked (", status, "). It is damaged.");
  }
}

void ZipReader::refill() {
  const int64_t piece = std::min<int64_t>(left_, static_cast<int64_t>(sizeof buffer_));
  MARTELLO_CHECK(piece > 0, "ends before its data.");
  file_.read(at_, buffer_, piece);
  at_ += piece, left_ -= piece;
  stream_.next_in = buffer_;
  stream_.avail_in = static_cast<uInt>(piece);
}

}  // namespace martello::internal
