#include <martello/graph/internal/graph_text.h>
#include <martello/graph/internal/text_reader.h>

#include <algorithm>
#include <charconv>

namespace martello::internal {
namespace {

// Symbols are numbered from 0; far beyond any graph, far from where arithmetic on them could overflow.
constexpr int64_t kMostSymbols = int64_t{1} << 40;
// Suggestions compare letter by letter, at a cost that grows with the square of the length.
constexpr size_t kLongestMistake = 200;
constexpr size_t kShownText = 24;

bool is_number_char(char c) { return is_word_char(c) || c == '+' || c == '-' || c == '.'; }

int hex_value(char c) {
  if ('0' <= c && c <= '9') return c - '0';
  if ('a' <= c && c <= 'f') return c - 'a' + 10;
  return -1;
}

}  // namespace

std::string suggestion(std::string_view word, const std::vector<std::string>& candidates) {
  return word.size() > kLongestMistake ? "" : did_you_mean(word, candidates);
}

void TextReader::skip_blanks() {
  while (at_ < text_.size()) {
    const char c = text_[at_];
    if (c == '#') {
      at_ = std::min(text_.find('\n', at_), text_.size());
    } else if (c == ' ' || c == '\n' || c == '\t' || c == '\r') {
      ++at_;
    } else {
      return;
    }
  }
}

bool TextReader::at_end() { return position() == text_.size(); }

size_t TextReader::position() {
  skip_blanks();
  return at_;
}

std::string TextReader::place(size_t position) const {
  const std::string_view before = text_.substr(0, position);
  const auto line = 1 + std::count(before.begin(), before.end(), '\n');
  return str("line ", line, ", column ", before.size() - (before.rfind('\n') + 1) + 1);
}

void TextReader::fail(size_t position, std::string_view message) const {
  throw InvalidArgument(str("[parse_graph] ", place(position), ": ", message));
}

void TextReader::fail_expected(std::string_view what) {
  const std::string_view rest = text_.substr(position());
  const std::string_view found = rest.substr(0, std::min(rest.find('\n'), kShownText));
  fail(at_, str("expected ", what, ", found ", rest.empty() ? "the end of the text" : quoted(found), "."));
}

bool TextReader::take(std::string_view punctuation) {
  skip_blanks();
  if (!text_.substr(at_).starts_with(punctuation)) return false;
  at_ += punctuation.size();
  return true;
}

bool TextReader::take_word(std::string_view word) {
  skip_blanks();
  const std::string_view rest = text_.substr(at_);
  if (!rest.starts_with(word) || (rest.size() > word.size() && is_word_char(rest[word.size()]))) return false;
  at_ += word.size();
  return true;
}

void TextReader::expect(std::string_view punctuation, std::string_view where) {
  if (!take(punctuation)) fail_expected(str("'", punctuation, "' ", where));
}

bool TextReader::peek_quote() {
  skip_blanks();
  return at_ < text_.size() && text_[at_] == '"';
}

std::string TextReader::quoted_text(std::string_view what) {
  if (!peek_quote()) fail_expected(str(what, " in quotes"));
  size_t end = at_ + 1;
  while (end < text_.size() && text_[end] != '"' && text_[end] != '\n') end += text_[end] == '\\' ? 2 : 1;
  if (end >= text_.size() || text_[end] != '"') fail(at_, str(what, " has no closing quote on its line."));
  const size_t start = std::exchange(at_, end + 1);
  try {
    return unquoted(text_.substr(start, at_ - start));
  } catch (Error& error) {
    error.add_context(str("in ", place(start), " of the graph text"));
    throw;
  }
}

std::string TextReader::word(std::string_view what) {
  if (peek_quote()) return quoted_text(what);
  const size_t start = at_;
  while (at_ < text_.size() && is_word_char(text_[at_])) ++at_;
  if (at_ == start) fail_expected(what);
  return std::string(text_.substr(start, at_ - start));
}

std::string TextReader::name() {
  expect("%", "before a node's name");
  if (at_ < text_.size() && text_[at_] == '"') return quoted_text("a node's name");
  const size_t start = at_;
  while (at_ < text_.size() && is_name_char(text_[at_])) ++at_;
  if (at_ == start) fail_expected("a node's name after '%'");
  return std::string(text_.substr(start, at_ - start));
}

bool TextReader::boolean_value() {
  if (take_word("true")) return true;
  if (take_word("false")) return false;
  fail_expected("true or false");
}

std::string_view TextReader::number_token() {
  skip_blanks();
  size_t end = at_;
  while (end < text_.size() && is_number_char(text_[end])) ++end;
  return text_.substr(at_, end - at_);
}

template <class T>
T TextReader::parsed_number(const char* what) {
  const std::string_view token = number_token();
  T value{};
  const auto [end, status] = std::from_chars(token.data(), token.data() + token.size(), value);
  if (status == std::errc::result_out_of_range) fail(at_, str(token, " does not fit; expected ", what, "."));
  if (status != std::errc() || end != token.data() + token.size()) fail_expected(what);
  at_ += token.size();
  return value;
}

int64_t TextReader::integer(int64_t low, int64_t high) {
  const size_t start = position();
  const auto value = parsed_number<int64_t>("a whole number");
  if (value < low || value > high) fail(start, str(value, " is not within [", low, ", ", high, "]."));
  return value;
}

uint64_t TextReader::unsigned_integer() { return parsed_number<uint64_t>("a whole number that is not negative"); }
double TextReader::number() { return parsed_number<double>("a number"); }

DType TextReader::dtype() {
  const size_t start = position();
  const std::string name = word("a dtype");
  if (const auto found = find_dtype(name)) return *found;
  std::vector<std::string> known;
  for (int i = 0; i < kDTypes; ++i) known.emplace_back(to_string(static_cast<DType>(i)));
  fail(start, str("expected a dtype (", join(known), "), found ", quoted(name.substr(0, kShownText)), "."));
}

int64_t TextReader::dimension() {
  if (!take("?")) return integer(0);
  const bool has_symbol = at_ < text_.size() && '0' <= text_[at_] && text_[at_] <= '9';
  if (!has_symbol) return kUnknown;
  const int64_t symbol = -2 - integer(0, kMostSymbols);
  lowest_symbol_ = std::min(lowest_symbol_, symbol);
  return symbol;
}

Shape TextReader::shape() {
  const size_t start = position();
  std::vector<int64_t> dims;
  list("[", "]", "around the dimensions of a shape", [&] {
    if (dims.size() == kMaxTextRank) fail(start, str("a shape has at most ", kMaxTextRank, " dimensions."));
    dims.push_back(dimension());
  });
  return Shape(std::move(dims));
}

template <class T>
T TextReader::element() {
  if constexpr (std::is_same_v<T, bool>) {
    return boolean_value();
  } else if constexpr (std::integral<T>) {
    return static_cast<T>(integer(std::numeric_limits<T>::min(), std::numeric_limits<T>::max()));
  } else if constexpr (std::is_same_v<T, double>) {
    return number();
  } else {
    return T(parsed_number<float>("a number"));
  }
}

void TextReader::read_elements(HostTensor& tensor) {
  visit_dtype(tensor.dtype(), [&]<class T>(T) {
    const std::span<T> elements = tensor.mutable_data<T>();
    for (size_t i = 0; i < elements.size(); ++i) {
      if (i > 0) expect(",", str("after ", i, " of ", elements.size(), " elements"));
      elements[i] = element<T>();
    }
  });
}

void TextReader::read_bytes(HostTensor& tensor) {
  skip_blanks();
  std::byte* bytes = tensor.mutable_raw();
  for (int64_t i = 0; i < tensor.num_bytes(); ++i) {
    const int high = left() > 0 ? hex_value(text_[at_]) : -1, low = left() > 1 ? hex_value(text_[at_ + 1]) : -1;
    if (high < 0 || low < 0) fail_expected(str("two digits 0-9 a-f for byte ", i, " of ", tensor.num_bytes()));
    bytes[i] = static_cast<std::byte>(high * 16 + low);
    at_ += 2;
  }
}

HostTensor TextReader::tensor() {
  const DType dtype = this->dtype();
  const size_t start = position();
  const Shape shape = this->shape();
  if (!shape.is_known()) fail(start, str("a value's shape has no unknown dimensions, found ", shape, "."));
  expect("(", "before the elements of a value");
  const bool is_hex = take_word("hex");
  int64_t count = 0;
  try {
    count = shape.num_elements();
  } catch (Error& error) {
    error.add_context(str("in ", place(start), " of the graph text"));
    throw;
  }
  // Before memory is taken: each element needs at least two characters, its last bracket included.
  const int64_t characters = is_hex ? 2 * size_of(dtype) : 1;
  if (count > static_cast<int64_t>(left()) / characters)
    fail(start, str("the text ends before the ", count, " elements of ", dtype, shape, "."));
  HostTensor tensor(shape, dtype);
  is_hex ? read_bytes(tensor) : read_elements(tensor);
  expect(")", "after the elements of a value");
  return tensor;
}

}  // namespace martello::internal
