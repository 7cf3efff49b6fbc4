#pragma once
#include <martello/base/error.h>
#include <martello/tensor/host_tensor.h>

#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace martello::internal {

// Reads words, numbers and values from text that nobody has checked. Every failure is an InvalidArgument with line,
// column, what was expected and what stands there.
class TextReader {
 public:
  explicit TextReader(std::string_view text) : text_(text) {}

  bool at_end();
  // Takes punctuation when it comes next.
  bool take(std::string_view punctuation);
  bool take_word(std::string_view word);
  void expect(std::string_view punctuation, std::string_view where);
  bool peek_quote();

  std::string word(std::string_view what);  // letters, digits and _, or in quotes
  std::string name();                       // of a node, without its %
  std::string quoted_text(std::string_view what);
  bool boolean_value();
  int64_t integer(int64_t low = std::numeric_limits<int64_t>::min(),
                  int64_t high = std::numeric_limits<int64_t>::max());
  uint64_t unsigned_integer();
  double number();
  DType dtype();
  Shape shape();
  HostTensor tensor();

  // Calls read() for each item between `open` and `close`, separated by commas.
  template <class F>
  void list(std::string_view open, std::string_view close, std::string_view what, F&& read) {
    expect(open, what);
    if (take(close)) return;
    do read();
    while (take(","));
    expect(close, what);
  }

  // Where the next word starts.
  size_t position();
  void rewind(size_t position) { at_ = position; }
  // "line 3, column 14"
  std::string place(size_t position) const;
  [[noreturn]] void fail(size_t position, std::string_view message) const;
  [[noreturn]] void fail_expected(std::string_view what);

  // The lowest symbol of an unknown dimension read so far; -1 for none.
  int64_t lowest_symbol() const { return lowest_symbol_; }

 private:
  void skip_blanks();
  std::string_view number_token();
  template <class T>
  T parsed_number(const char* what);
  template <class T>
  T element();
  int64_t dimension();
  void read_elements(HostTensor& tensor);
  void read_bytes(HostTensor& tensor);
  size_t left() const { return text_.size() - at_; }

  std::string_view text_;
  size_t at_ = 0;
  int64_t lowest_symbol_ = kUnknown;
};

// did_you_mean() for words that may be of any length.
std::string suggestion(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace martello::internal
