#include "row.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <fstream>

namespace mt = martello;

namespace bench {
namespace {

constexpr int64_t kSmall = 64, kSmallBatch = 8;

std::string trimmed(std::string s) {
  const auto is_space = [](unsigned char c) { return std::isspace(c) != 0; };
  s.erase(s.begin(), std::find_if_not(s.begin(), s.end(), is_space));
  s.erase(std::find_if_not(s.rbegin(), s.rend(), is_space).base(), s.end());
  return s;
}

// Blanks inside brackets and braces do not separate.
std::vector<std::string> words(const std::string& text) {
  std::vector<std::string> list;
  std::string word;
  int depth = 0;
  for (char c : text + " ") {
    depth += (c == '[' || c == '{') - (c == ']' || c == '}');
    if (c != ' ' || depth > 0) word += c;
    else if (!word.empty()) list.push_back(std::exchange(word, {}));
  }
  return list;
}

// Sizes that depend on each other, in convolutions, stay; only their batch shrinks.
void make_small(std::vector<int64_t>& dims, bool is_convolution) {
  if (is_convolution) {
    if (dims.size() == 4) dims[0] = std::min(dims[0], kSmallBatch);
    return;
  }
  for (int64_t& d : dims) d = d > kSmall ? kSmall + d % 7 : d;
}

mt::TensorSpec parse_spec(const std::string& word, bool small, bool is_convolution) {
  const auto bracket = word.find('[');
  const auto dtype = mt::find_dtype(word.substr(0, bracket));
  MARTELLO_CHECK(dtype && word.back() == ']', "[bench] '", word, "' is not a tensor such as f32[32, 64].");
  std::vector<int64_t> dims;
  for (const std::string& part : mt::split(word.substr(bracket + 1, word.size() - bracket - 2), ',')) {
    if (trimmed(part).empty()) continue;
    dims.push_back(std::atoll(part.c_str()));
  }
  if (small) make_small(dims, is_convolution);
  return {mt::Shape(dims), *dtype, {}, {}};
}

class Parser {
 public:
  Parser(const std::string& line, bool small) : small_(small) {
    row_.text = line;
    row_.op = line.substr(0, line.find(' '));
    const auto at = line.find('@');
    for (const std::string& part : mt::split(line.substr(0, at), ';')) add_op(words(trimmed(part)));
    row_.graph_text += "%y = identity(" + result_ + ")\n";
    if (at == std::string::npos) return;
    const auto limit = words(trimmed(line.substr(at + 1)));
    row_.limit = limit.at(0);
    row_.ratio = limit.size() > 1 ? std::atof(limit[1].c_str()) : 0;
  }
  Row take() { return std::move(row_); }

 private:
  void add_op(const std::vector<std::string>& list) {
    std::vector<std::string> inputs;
    std::string attrs;
    if (!result_.empty()) inputs.push_back(result_);
    for (size_t i = 1; i < list.size(); ++i) {
      if (list[i][0] == '{') attrs = " " + list[i];
      else inputs.push_back(list[i].find('[') != std::string::npos ? add_input(list[i]) : add_number(list[i]));
    }
    const std::string name = mt::str("%op", ops_++);
    row_.graph_text += mt::str(name, " = ", list.at(0), "(", mt::join(inputs), ")", attrs, "\n");
    result_ = name;
  }

  std::string add_input(const std::string& word) {
    const mt::TensorSpec spec = parse_spec(word, small_, row_.op.starts_with("conv2d"));
    const std::string name = mt::str("%x", row_.inputs.size());
    row_.graph_text += mt::str(name, " = placeholder() {shape=", spec.shape, ", dtype=", spec.dtype, "}\n");
    row_.inputs.push_back(spec);
    return name;
  }

  std::string add_number(const std::string& word) {
    const std::string name = mt::str("%c", numbers_++);
    row_.graph_text += mt::str(name, " = constant() {value=f32[](", word, ")}\n");
    return name;
  }

  bool small_;
  Row row_;
  std::string result_;
  int ops_ = 0, numbers_ = 0;
};

}  // namespace

Row parse_row(const std::string& line, bool small) { return Parser(line, small).take(); }

std::vector<Row> read_rows(const std::string& path) {
  std::ifstream file(path);
  MARTELLO_CHECK(file, "[bench] cannot read '", path, "'.");
  std::vector<Row> rows;
  for (std::string line; std::getline(file, line);) {
    line = trimmed(line);
    if (!line.empty() && line[0] != '#') rows.push_back(parse_row(line, false));
  }
  return rows;
}

}  // namespace bench
