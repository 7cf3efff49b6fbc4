#include "idx.h"

#include <martello/base/checked.h>
#include <martello/base/error.h>

#include <zlib.h>

#include <algorithm>
#include <memory>
#include <vector>

namespace {

constexpr int64_t kLargestFile = int64_t{1} << 30;

class GzipFile {
 public:
  explicit GzipFile(const std::string& path) : path_(path), file_(gzopen(path.c_str(), "rb"), gzclose) {
    if (!file_)
      throw martello::NotFound(martello::str("[idx '", path,
                                             "'] cannot be opened. Install Debian's package "
                                             "dataset-fashion-mnist, or give the folder as the first argument."));
  }
  void read(void* to, int64_t bytes) {
    auto* at = static_cast<char*>(to);
    while (bytes > 0) {
      const auto part = static_cast<unsigned>(std::min<int64_t>(bytes, 1 << 24));
      const int got = gzread(file_.get(), at, part);
      MARTELLO_CHECK(got > 0, "[idx '", path_, "'] ends ", bytes, " bytes too early, or is damaged.");
      at += got;
      bytes -= got;
    }
  }
  int64_t read_u32() {
    unsigned char b[4];
    read(b, 4);
    return (int64_t{b[0]} << 24) | (int64_t{b[1]} << 16) | (int64_t{b[2]} << 8) | int64_t{b[3]};
  }

 private:
  std::string path_;
  std::unique_ptr<gzFile_s, int (*)(gzFile)> file_;
};

}  // namespace

martello::HostTensor read_idx(const std::string& path) {
  GzipFile file(path);
  const int64_t magic = file.read_u32();
  const int64_t rank = magic & 0xff;
  MARTELLO_CHECK((magic >> 8) == 8 && rank >= 1 && rank <= 4, "[idx '", path, "'] is not an IDX file of bytes: magic ",
                 magic, ".");
  std::vector<int64_t> dims;
  for (int64_t i = 0; i < rank; ++i) dims.push_back(file.read_u32());
  MARTELLO_CHECK(martello::checked_product(dims) <= kLargestFile, "[idx '", path, "'] claims shape ",
                 martello::Shape(dims), ", more than ", kLargestFile, " bytes.");
  martello::HostTensor tensor(martello::Shape(dims), martello::u8);
  file.read(tensor.mutable_raw(), tensor.num_bytes());
  return tensor;
}
