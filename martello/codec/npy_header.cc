#include <martello/base/error.h>
#include <martello/codec/internal/npy_header.h>

#include <charconv>
#include <optional>

namespace martello::internal {
namespace {

constexpr std::pair<std::string_view, DType> kDescrs[] = {{"<f4", f32}, {"<f8", f64}, {"<f2", f16},    {"<i4", i32},
                                                          {"<i8", i64}, {"|u1", u8},  {"|b1", boolean}};
constexpr size_t kMostRank = 64;  // NumPy's own limit

// Reads a Python dictionary of texts, True, False and tuples of numbers, as NumPy writes it.
class DictParser {
 public:
  explicit DictParser(std::string_view text) : rest_(text) {}

  void expect(char c) {
    MARTELLO_CHECK(take(c), "its header has ", quoted(rest_.substr(0, 12)), " where ", quoted(std::string(1, c)),
                   " is expected.");
  }
  bool take(char c) {
    skip_blanks();
    if (!rest_.starts_with(c)) return false;
    rest_.remove_prefix(1);
    return true;
  }
  std::string_view text() {
    expect('\'');
    const size_t end = rest_.find('\'');
    MARTELLO_CHECK(end != std::string_view::npos, "its header has a text without an end.");
    const std::string_view found = rest_.substr(0, end);
    rest_.remove_prefix(end + 1);
    return found;
  }
  bool boolean_value() {
    skip_blanks();
    for (const auto& [word, value] : {std::pair<std::string_view, bool>{"True", true}, {"False", false}})
      if (rest_.starts_with(word)) {
        rest_.remove_prefix(word.size());
        return value;
      }
    throw InvalidArgument(str("its header has ", quoted(rest_.substr(0, 12)), " where True or False is expected."));
  }
  Shape shape() {
    std::vector<int64_t> dims;
    expect('(');
    while (!take(')')) {
      MARTELLO_CHECK(dims.size() < kMostRank, "has a shape of more than ", kMostRank, " dimensions.");
      dims.push_back(dimension());
      if (!take(',')) {
        expect(')');
        break;
      }
    }
    return Shape(std::move(dims));
  }

 private:
  void skip_blanks() { rest_.remove_prefix(std::min(rest_.find_first_not_of(" \n"), rest_.size())); }
  int64_t dimension() {
    constexpr int kMostDigits = 18;
    skip_blanks();
    int64_t value = -1;
    const auto [end, status] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
    const auto digits = end - rest_.data();
    MARTELLO_CHECK(status == std::errc() && value >= 0 && digits <= kMostDigits, "its header has ",
                   quoted(rest_.substr(0, 24)), " in the shape, which is no size.");
    rest_.remove_prefix(static_cast<size_t>(digits));
    return value;
  }
  std::string_view rest_;
};

DType dtype_of_descr(std::string_view descr) {
  for (const auto& [text, dtype] : kDescrs)
    if (text == descr) return dtype;
  MARTELLO_CHECK(descr.find('O') == std::string_view::npos,
                 "holds pickled Python objects, which are programs and never read. Save plain arrays: "
                 "numpy.savez(path, **{name: numpy.asarray(value)}).");
  throw InvalidArgument(str("has the dtype ", quoted(descr), ", which is none of ours (little-endian f2, f4, f8, i4, ",
                            "i8, u1, b1). Convert it with astype()."));
}

NpyHeader parse_dict(std::string_view text) {
  NpyHeader header;
  std::optional<bool> is_fortran;
  bool has_dtype = false, has_shape = false;
  DictParser parser(text);
  parser.expect('{');
  while (!parser.take('}')) {
    const std::string_view key = parser.text();
    parser.expect(':');
    MARTELLO_CHECK(key != "descr" || !parser.take('['), "has named fields, as no tensor has. Save each as an array.");
    if (key == "descr" && !has_dtype) header.dtype = dtype_of_descr(parser.text()), has_dtype = true;
    else if (key == "fortran_order" && !is_fortran) is_fortran = parser.boolean_value();
    else if (key == "shape" && !has_shape) header.shape = parser.shape(), has_shape = true;
    else throw InvalidArgument(str("its header has the key ", quoted(key), ", unknown or for the second time."));
    if (!parser.take(',')) {
      parser.expect('}');
      break;
    }
  }
  MARTELLO_CHECK(has_dtype && is_fortran && has_shape, "its header lacks descr, fortran_order or shape.");
  MARTELLO_CHECK(!*is_fortran || header.shape.rank() < 2,
                 "is stored by columns (fortran_order). Save numpy.ascontiguousarray(value).");
  return header;
}

}  // namespace

NpyHeader parse_npy_header(std::string_view bytes) {
  constexpr std::string_view kMagic = "\x93NUMPY";
  MARTELLO_CHECK(bytes.starts_with(kMagic) && bytes.size() >= 10, "does not begin as an .npy file does.");
  const int version = static_cast<unsigned char>(bytes[6]);
  MARTELLO_CHECK(version >= 1 && version <= 3, "is an .npy file of version ", version, "; 1 to 3 are known.");
  const size_t begin = version == 1 ? 10 : 12;
  MARTELLO_CHECK(bytes.size() >= begin, "ends in its header.");
  size_t length = 0;
  for (size_t i = 8; i < begin; ++i) length |= size_t{static_cast<unsigned char>(bytes[i])} << (8 * (i - 8));
  MARTELLO_CHECK(length <= bytes.size() - begin, "its header of ", length, " bytes ends behind the ", bytes.size(),
                 " that are there or looked at.");
  NpyHeader header = parse_dict(bytes.substr(begin, length));
  header.data_begin = begin + length;
  return header;
}

}  // namespace martello::internal
