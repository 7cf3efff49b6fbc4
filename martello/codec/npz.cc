#include <martello/base/error.h>
#include <martello/codec/npz.h>

#include <zlib.h>

#include <set>
#include <string_view>

namespace martello {
namespace {

void append(std::string& out, uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) out += static_cast<char>(value >> (8 * i));
}

const char* descr_of(DType dtype) {
  switch (dtype) {
    case f32: return "<f4";
    case f64: return "<f8";
    case f16: return "<f2";
    case i32: return "<i4";
    case i64: return "<i8";
    case u8: return "|u1";
    case boolean: return "|b1";
    case bf16: break;
  }
  MARTELLO_ASSERT(false, "[encode_npz] ", dtype, " is not converted.");
  return "";
}

std::string npy_shape(const Shape& shape) {
  std::string text = "(";
  for (int i = 0; i < shape.rank(); ++i) text += str(i > 0 ? ", " : "", shape[i]);
  return text + (shape.rank() == 1 ? ",)" : ")");
}

// Magic, version 1.0, length and a Python dictionary, padded so that the data begin at a multiple of 64.
std::string npy_header(const HostTensor& tensor) {
  constexpr size_t kFixed = 10, kAlignment = 64;
  std::string dict = str("{'descr': '", descr_of(tensor.dtype()),
                         "', 'fortran_order': False, 'shape': ", npy_shape(tensor.shape()), ", }");
  dict.append(kAlignment - (kFixed + dict.size() + 1) % kAlignment, ' ');
  dict += '\n';
  std::string header("\x93NUMPY\x01\x00", 8);
  append(header, dict.size(), 2);
  return header + dict;
}

std::string npy_file(const HostTensor& given) {
  const HostTensor tensor = given.dtype() == bf16 ? given.cast(f32) : given;
  std::string file = npy_header(tensor);
  file.append(reinterpret_cast<const char*>(tensor.raw()), static_cast<size_t>(tensor.num_bytes()));
  return file;
}

uint32_t checksum(std::string_view bytes) {
  return static_cast<uint32_t>(crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

// One stored file of the archive, as both of its headers describe it. Sizes and places stand in the 64-bit field of
// the zip format always, so that there is one way only.
struct Entry {
  std::string name;
  uint32_t crc = 0;
  uint64_t size = 0, offset = 0;

  static constexpr uint32_t kIn64Bits = 0xffffffff;
  static constexpr int kVersion = 45, kUtf8 = 1 << 11, kStored = 0, kTime = 0, kDate = 0x21;  // 1 January 1980

  void append_common(std::string& out) const {
    append(out, kVersion, 2);
    append(out, kUtf8, 2);
    append(out, kStored, 2);
    append(out, kTime, 2);
    append(out, kDate, 2);
    append(out, crc, 4);
    append(out, kIn64Bits, 4);
    append(out, kIn64Bits, 4);
    append(out, name.size(), 2);
  }
  void append_sizes(std::string& out, bool with_offset) const {
    append(out, 1, 2);
    append(out, with_offset ? 24 : 16, 2);
    append(out, size, 8);
    append(out, size, 8);
    if (with_offset) append(out, offset, 8);
  }
  void append_local(std::string& out) const {
    append(out, 0x04034b50, 4);
    append_common(out);
    append(out, 20, 2);  // of the sizes
    out += name;
    append_sizes(out, false);
  }
  void append_central(std::string& out) const {
    append(out, 0x02014b50, 4);
    append(out, kVersion, 2);
    append_common(out);
    append(out, 28, 2);  // of sizes and offset
    append(out, 0, 6);   // comment, disk and attributes of the file
    append(out, 0, 4);
    append(out, kIn64Bits, 4);
    out += name;
    append_sizes(out, true);
  }
};

void append_end(std::string& out, uint64_t count, uint64_t directory, uint64_t directory_size) {
  const uint64_t end = out.size();
  append(out, 0x06064b50, 4);
  append(out, 44, 8);  // of what follows
  append(out, Entry::kVersion, 2);
  append(out, Entry::kVersion, 2);
  append(out, 0, 8);  // disks
  append(out, count, 8);
  append(out, count, 8);
  append(out, directory_size, 8);
  append(out, directory, 8);
  append(out, 0x07064b50, 4);
  append(out, 0, 4);
  append(out, end, 8);
  append(out, 1, 4);
  append(out, 0x06054b50, 4);
  append(out, 0, 4);
  append(out, 0xffffffff, 4);  // both counts
  append(out, Entry::kIn64Bits, 4);
  append(out, Entry::kIn64Bits, 4);
  append(out, 0, 2);
}

}  // namespace

std::string encode_npz(const NamedTensors& tensors) {
  constexpr size_t kLongestName = 60000;
  std::set<std::string_view> names;
  std::vector<Entry> entries;
  std::string file;
  for (const auto& [name, tensor] : tensors) {
    MARTELLO_CHECK(!name.empty() && name.size() <= kLongestName, "[encode_npz] a name has ", name.size(),
                   " bytes; it must have 1 to ", kLongestName, ".");
    MARTELLO_CHECK(names.insert(name).second, "[encode_npz] two tensors are called '", name, "'.");
    const std::string npy = npy_file(tensor);
    entries.push_back({name + ".npy", checksum(npy), npy.size(), file.size()});
    entries.back().append_local(file);
    file += npy;
  }
  const uint64_t directory = file.size();
  for (const Entry& e : entries) e.append_central(file);
  append_end(file, entries.size(), directory, file.size() - directory);
  return file;
}

}  // namespace martello
