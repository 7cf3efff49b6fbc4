#include <martello/base/checked.h>
#include <martello/data/idx.h>
#include <martello/data/sources.h>

#include <sys/stat.h>
#include <zlib.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <memory>
#include <vector>

namespace martello::data {
namespace {

constexpr int64_t kPartBytes = 1 << 20;
constexpr int64_t kTrustedBytes = 64 << 20;
// deflate cannot pack more than this into a byte, so a gzipped file that claims more is refused unread.
constexpr int64_t kMostPacking = 1032;

class File {
 public:
  explicit File(const std::string& path) : path_(path), file_(nullptr, gzclose) {
    struct stat info = {};
    // A pipe or device is not opened: that alone might wait for ever.
    if (stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode)) file_.reset(gzopen(path.c_str(), "rb"));
    if (!file_) throw NotFound(str("[idx '", path, "'] is not a file that can be opened."));
    size_ = info.st_size;
    gzbuffer(file_.get(), 1 << 17);
    most_bytes_ = checked_mul(info.st_size, gzdirect(file_.get()) ? 1 : kMostPacking);
  }
  const std::string& path() const { return path_; }
  int64_t size() const { return size_; }
  int64_t most_bytes() const { return most_bytes_; }
  // As many bytes as there are, up to `bytes`.
  int64_t read(void* to, int64_t bytes) {
    const int got = gzread(file_.get(), to, static_cast<unsigned>(bytes));
    MARTELLO_CHECK(got >= 0, "[idx '", path_, "'] is damaged: ", error_text(), ".");
    return got;
  }
  int64_t read_u32() {
    unsigned char b[4];
    MARTELLO_CHECK(read(b, 4) == 4, "[idx '", path_, "'] ends within its header.");
    return (int64_t{b[0]} << 24) | (int64_t{b[1]} << 16) | (int64_t{b[2]} << 8) | int64_t{b[3]};
  }
  void check_end() {
    char more;
    MARTELLO_CHECK(read(&more, 1) == 0, "[idx '", path_, "'] has more bytes than its shape asks for.");
    const int status = gzclose_r(file_.release());
    MARTELLO_CHECK(status == Z_OK, "[idx '", path_, "'] is damaged: it ends too early (zlib error ", status, ").");
  }

 private:
  std::string error_text() {
    int code = 0;
    return gzerror(file_.get(), &code);
  }

  std::string path_;
  std::unique_ptr<gzFile_s, int (*)(gzFile)> file_;
  int64_t size_ = 0, most_bytes_ = 0;
};

DType dtype_of_code(int64_t code, const std::string& path) {
  switch (code) {
    case 0x08: return u8;
    case 0x0c: return i32;
    case 0x0d: return f32;
    case 0x0e: return f64;
    default: break;
  }
  throw InvalidArgument(str("[idx '", path, "'] has elements of type code ", code,
                            "; u8 (8), i32 (12), f32 (13) and f64 (14) can be read."));
}

struct Header {
  Shape shape;
  DType dtype;
  int64_t bytes;
};

Header read_header(File& file) {
  const int64_t magic = file.read_u32(), rank = magic & 0xff;
  MARTELLO_CHECK((magic >> 16) == 0 && rank >= 1, "[idx '", file.path(), "'] is not an IDX file: it begins with ",
                 magic, ".");
  const DType dtype = dtype_of_code(magic >> 8, file.path());
  std::vector<int64_t> dims;
  for (int64_t i = 0; i < rank; ++i) dims.push_back(file.read_u32());
  dims.push_back(size_of(dtype));
  int64_t bytes = 0;
  try {
    bytes = checked_product(dims);
  } catch (const SizeOverflow&) {
    bytes = std::numeric_limits<int64_t>::max();
  }
  dims.pop_back();
  MARTELLO_CHECK(bytes <= file.most_bytes(), "[idx '", file.path(), "'] claims ", dtype, Shape(dims), ", ", bytes,
                 " bytes; the file cannot hold more than ", file.most_bytes(), ".");
  return {Shape(std::move(dims)), dtype, bytes};
}

void read_part(File& file, const Header& header, std::byte* to, int64_t begin, int64_t bytes) {
  const int64_t got = file.read(to + begin, bytes);
  MARTELLO_CHECK(got == bytes, "[idx '", file.path(), "'] ends after ", begin + got, " of the ", header.bytes,
                 " bytes of its ", header.dtype, header.shape, ".");
}

Buffer read_payload(File& file, const Header& header) {
  // Before much memory is taken for a gzipped file, the bytes must have been seen.
  const bool is_plausible = header.bytes <= file.size() + kTrustedBytes;
  std::vector<std::byte> seen;
  Buffer buffer(is_plausible ? header.bytes : 0);
  for (int64_t begin = 0; begin < header.bytes; begin += kPartBytes) {
    const int64_t part = std::min<int64_t>(header.bytes - begin, kPartBytes);
    if (!is_plausible) seen.resize(static_cast<size_t>(begin + part));
    read_part(file, header, is_plausible ? buffer.data() : seen.data(), begin, part);
  }
  if (is_plausible) return buffer;
  buffer = Buffer(header.bytes);
  std::memcpy(buffer.data(), seen.data(), seen.size());
  return buffer;
}

void to_little_endian(std::byte* bytes, int64_t count, int64_t size) {
  for (int64_t i = 0; i < count; ++i) std::reverse(bytes + i * size, bytes + (i + 1) * size);
}

}  // namespace

HostTensor read_idx(const std::string& path) {
  File file(path);
  const Header header = read_header(file);
  Buffer buffer = read_payload(file, header);
  file.check_end();
  const int64_t size = size_of(header.dtype);
  if (size > 1) to_little_endian(buffer.data(), header.bytes / size, size);
  return HostTensor::wrap(std::move(buffer), header.shape, header.dtype);
}

DataFlowRef idx_files(const std::vector<std::string>& paths) {
  HostTensors arrays;
  for (const std::string& path : paths) arrays.push_back(read_idx(path));
  return from_arrays(std::move(arrays));
}

}  // namespace martello::data
