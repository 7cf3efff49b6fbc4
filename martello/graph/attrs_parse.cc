#include <martello/graph/internal/field_visitor.h>
#include <martello/graph/internal/graph_reader.h>
#include <martello/graph/internal/graph_text.h>

#include <algorithm>

namespace martello::internal {
namespace {

Subgraph read_subgraph(TextReader& text, int depth, uint64_t outer_seed) {
  const size_t start = text.position();
  if (text.take_word("none")) return {};
  if (!text.take_word("subgraph")) text.fail_expected("'subgraph(...)' or none");
  if (depth >= kMaxBodyDepth) text.fail(start, str("more than ", kMaxBodyDepth, " bodies within each other."));
  GraphReader reader(text, depth + 1, outer_seed);
  std::vector<Reference> inputs, outputs;
  text.list("(", ")", "around the inputs of a subgraph", [&] { inputs.push_back(reader.reference()); });
  text.expect("->", "before the outputs of a subgraph");
  text.list("(", ")", "around the outputs of a subgraph", [&] { outputs.push_back(reader.reference()); });
  text.expect("{", "before the statements of a subgraph");
  const Graph graph = reader.read(true);
  TensorList in, out;
  for (const Reference& r : inputs) in.push_back(reader.tensor(r));
  for (const Reference& r : outputs) out.push_back(reader.tensor(r));
  return with_place(text, start, [&] { return Subgraph(graph, in, out); });
}

HostFunction read_host_function(TextReader& text) {
  const size_t start = text.position();
  if (text.take_word("none")) return {};
  if (!text.take_word("host")) text.fail_expected("'host(\"name\")' or none");
  text.expect("(", "before a host function's name");
  const std::string name = text.quoted_text("a host function's name");
  text.expect(")", "after a host function's name");
  if (auto found = find_host_function(name)) return *found;
  text.fail(start, str("no host function ", quoted(name), " is known. Call register_host_function() with it first."));
}

// Reads the value of the field named `wanted` and lists the names of all.
class AttrsReader {
 public:
  AttrsReader(TextReader& text, int depth, uint64_t outer_seed) : text_(text), depth_(depth), seed_(outer_seed) {}

  template <class T>
  void operator()(const char* name, T& v) {
    names.push_back(name);
    if (name == wanted && !std::exchange(found, true)) read(v);
  }
  void operator()(const char* name, int& v, const std::vector<std::string>& values) {
    names.push_back(name);
    if (name != wanted || std::exchange(found, true)) return;
    const size_t start = text_.position();
    const std::string word = text_.word(str("one of ", join(values)));
    const auto it = std::find(values.begin(), values.end(), word);
    if (it == values.end())
      text_.fail(start, str("'", wanted, "' is one of ", join(values), ", found ", quoted(word), ".",
                            suggestion(word, values)));
    v = static_cast<int>(it - values.begin());
  }

  std::string wanted;
  bool found = false;
  std::vector<std::string> names;

 private:
  void read(bool& v) { v = text_.boolean_value(); }
  void read(int& v) { v = whole<int>(); }
  void read(int64_t& v) { v = whole<int64_t>(); }
  void read(double& v) { v = text_.number(); }
  void read(std::string& v) { v = text_.quoted_text(str("the text '", wanted, "'")); }
  void read(DType& v) { v = text_.dtype(); }
  void read(Shape& v) { v = text_.shape(); }
  void read(std::vector<int>& v) {
    read_list(v, [&] { return whole<int>(); });
  }
  void read(std::vector<int64_t>& v) {
    read_list(v, [&] { return whole<int64_t>(); });
  }
  void read(std::vector<double>& v) {
    read_list(v, [&] { return text_.number(); });
  }
  void read(HostTensor& v) { v = text_.tensor(); }
  void read(Subgraph& v) { v = read_subgraph(text_, depth_, seed_); }
  void read(HostFunction& v) { v = read_host_function(text_); }

  template <class T>
  T whole() {
    return static_cast<T>(text_.integer(std::numeric_limits<T>::min(), std::numeric_limits<T>::max()));
  }
  template <class T, class F>
  void read_list(std::vector<T>& v, F&& item) {
    v.clear();
    text_.list("[", "]", str("around the list '", wanted, "'"), [&] { v.push_back(item()); });
  }

  TextReader& text_;
  int depth_;
  uint64_t seed_;
};

}  // namespace

Attrs read_attrs(TextReader& text, const OpDef& def, int depth, uint64_t outer_seed) {
  const AttrsType* type = def.attrs ? def.attrs : &attrs_type<NoAttrs>;
  const std::shared_ptr<void> value = type->create();
  if (!text.take("{")) return Attrs(value, type);
  if (text.take("}")) return Attrs(value, type);
  std::vector<std::string> seen;
  do {
    const size_t start = text.position();
    AttrsReader reader(text, depth, outer_seed);
    reader.wanted = text.word("an attribute's name");
    if (std::find(seen.begin(), seen.end(), reader.wanted) != seen.end())
      text.fail(start, str("attribute '", reader.wanted, "' is given twice."));
    text.expect("=", "after an attribute's name");
    EachField visitor(reader);
    type->visit(value.get(), visitor);
    if (!reader.found)
      text.fail(start,
                str("op '", def.name, "' has no attribute ", quoted(reader.wanted), "; it has ",
                    reader.names.empty() ? "none" : join(reader.names), ".", suggestion(reader.wanted, reader.names)));
    seen.push_back(reader.wanted);
  } while (text.take(","));
  text.expect("}", "after the attributes");
  return Attrs(value, type);
}

}  // namespace martello::internal
