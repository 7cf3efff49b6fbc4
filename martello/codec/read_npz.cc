#include <martello/base/checked.h>
#include <martello/base/error.h>
#include <martello/codec/internal/npy_header.h>
#include <martello/codec/internal/zip_reader.h>
#include <martello/codec/npz.h>

#include <algorithm>
#include <set>

namespace martello {
namespace {

using namespace internal;

constexpr int64_t kMostHeader = 1 << 16;

// All of the header; its length stands in the first bytes.
std::string read_header(ZipReader& reader, int64_t size) {
  std::string head(static_cast<size_t>(std::min<int64_t>(size, 12)), '\0');
  reader.read(head.data(), static_cast<int64_t>(head.size()));
  MARTELLO_CHECK(head.size() >= 10, "has ", size, " bytes, too few for an .npy file.");
  const bool is_first = head[6] == 1;
  int64_t length = is_first ? 10 : 12;
  for (size_t i = 8; i < (is_first ? 10 : head.size()); ++i)
    length += int64_t{static_cast<unsigned char>(head[i])} << (8 * (i - 8));
  const auto begun = static_cast<int64_t>(head.size());
  MARTELLO_CHECK(length >= begun && length <= std::min(size, kMostHeader), "its header has ", length, " of ", size,
                 " bytes.");
  head.resize(static_cast<size_t>(length));
  reader.read(head.data() + begun, length - begun);
  return head;
}

int64_t bytes_of(const NpyHeader& header) try {
  return checked_mul(header.shape.num_elements(), size_of(header.dtype));
} catch (const SizeOverflow&) {
  throw InvalidArgument(str("has a shape ", header.shape, " beyond all sizes."));
}

HostTensor read_tensor(const ZipFile& file, const ZipEntry& e) {
  ZipReader reader(file, e);
  const std::string head = read_header(reader, static_cast<int64_t>(e.size));
  const NpyHeader header = parse_npy_header(head);
  const int64_t bytes = bytes_of(header), given = static_cast<int64_t>(e.size) - static_cast<int64_t>(head.size());
  MARTELLO_CHECK(bytes == given, "is ", header.dtype, header.shape, ", ", bytes, " bytes, but has ", given, ".");
  HostTensor tensor(header.shape, header.dtype);
  reader.read(tensor.mutable_raw(), bytes);
  reader.finish();
  for (int64_t i = 0; header.dtype == boolean && i < tensor.num_elements(); ++i)
    MARTELLO_CHECK(std::to_integer<int>(tensor.raw()[i]) <= 1, "its element ", i, " is neither True nor False.");
  return tensor;
}

// `w` and `w.npy` are the same array.
std::string_view array_name(const ZipEntry& e) {
  const std::string_view name = e.name;
  return name.ends_with(".npy") ? name.substr(0, name.size() - 4) : name;
}

void check_names(const std::vector<ZipEntry>& entries) {
  std::set<std::string_view> names;
  for (const ZipEntry& e : entries)
    MARTELLO_CHECK(names.insert(array_name(e)).second, "has the array ", martello::quoted(array_name(e)), " twice.");
}

NamedTensors read_arrays(const ZipFile& file) {
  const std::vector<ZipEntry> entries = read_directory(file);
  check_names(entries);
  NamedTensors tensors;
  tensors.reserve(entries.size());
  for (const ZipEntry& e : entries) {
    try {
      tensors.emplace_back(array_name(e), read_tensor(file, e));
    } catch (const InvalidArgument& error) {
      throw InvalidArgument(str("'", e.name, "' ", error.what()));
    }
  }
  return tensors;
}

}  // namespace

NamedTensors read_npz(const std::string& path) {
  const ZipFile file(path);
  try {
    return read_arrays(file);
  } catch (const InvalidArgument& error) {
    throw InvalidArgument(str("[npz '", path, "'] ", error.what()));
  }
}

}  // namespace martello
