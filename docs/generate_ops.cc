// Writes docs/ops.md from the definitions of the ops.
//   generate_ops_docs FILE           writes FILE
//   generate_ops_docs --check FILE   fails when FILE is not what would be written
#include <martello/graph/internal/field_visitor.h>
#include <martello/graph/internal/graph_text.h>
#include <martello/martello.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <fstream>
#include <iterator>
#include <tuple>

namespace mt = martello;

namespace {

constexpr const char* kHead = R"(# Ops

<!-- Written by docs/generate_ops.cc from the definitions; edit those, then run ./dev docs. -->

Each op is shown as in the text of a graph, `outputs = op(inputs) {attributes with their defaults}`, then what it
computes and what the planner knows of it. `xs...` is any number of tensors. C++ functions of the same names make the
nodes; a few functions (`bias_add`, `tensordot`, `clip_by_norm` ...) are made of several ops and have none of their
own. Attributes that only those functions can know (`shape`, `key`, bodies) are filled in by them. A reduction with
`axes=[]` is over all axes.

| Fact | Means |
|---|---|
| differentiable | `gradients()` passes through it |
| not differentiable | `gradients()` refuses a path through it; use `stop_gradient()` when that is intended |
| no gradient | `gradients()` takes the result for a constant: the path ends there silently |
| in place of x | the result may take the memory of x when nobody else needs x |
| no copy | the result is the memory of its input, with another shape or name |
| rows kept | dimension 0 may depend on data, and is passed on (not where it would be broadcast) |
| rows reduced | dimension 0 may depend on data; the result does not have it |
| rows made | the op decides how many rows there are in a run; its shape states a bound |
| rows by case | whether rows that depend on data pass is a question of attributes and shapes |
| acts | does something outside the graph: runs once per run, is never merged or folded |
| reads state | sees the variable where control edges put the read |
| writes | writes a variable, in the update phase of a run |

Where nothing is said of rows, all sizes must be known before the run.
)";

std::string default_text(const mt::Subgraph&) { return "a body"; }
std::string default_text(const mt::HostFunction&) { return "a function"; }
std::string default_text(const std::string& v) { return mt::quoted(v); }
std::string default_text(const mt::HostTensor& v) { return mt::internal::tensor_text(v); }
std::string default_text(const mt::Shape& v) { return mt::internal::shape_text(v); }
template <class T>
std::string default_text(const std::vector<T>& v) {
  std::vector<std::string> parts;
  for (const T& item : v) parts.push_back(mt::str(item));
  return mt::str("[", mt::join(parts), "]");
}
template <class T>
std::string default_text(const T& v) {
  return mt::str(v);
}

// "axis=-1" for each field.
class Defaults {
 public:
  template <class T>
  void operator()(const char* name, const T& v) {
    list.push_back(mt::str(name, "=", default_text(v)));
  }
  void operator()(const char* name, int v, const std::vector<std::string>& names) {
    list.push_back(mt::str(name, "=", names[static_cast<size_t>(v)]));
  }
  std::vector<std::string> list;
};

std::string attributes(const mt::OpDef& def) {
  if (!def.attrs) return "";
  Defaults defaults;
  mt::internal::EachField visitor(defaults);
  mt::Attrs(def.attrs->create(), def.attrs).visit(visitor);
  return defaults.list.empty() ? "" : mt::str(" {", mt::join(defaults.list), "}");
}

std::string names(const mt::NameList& list) {
  return mt::join(std::vector<std::string>(list.names, list.names + list.size()));
}

std::string signature(const mt::OpDef& def) {
  const std::string outputs = names(def.outputs);
  return mt::str(outputs, outputs.empty() ? "" : " = ", def.name, "(", names(def.inputs), ")", attributes(def));
}

const char* gradient_fact(const mt::OpDef& def) {
  if (def.gradient == mt::not_differentiable) return "not differentiable";
  return def.gradient == mt::no_gradient ? "no gradient" : "differentiable";
}

const char* rows_fact(const mt::OpDef& def) {
  if (def.rows_of && def.rows == mt::Rows::refused) return "rows by case";
  switch (def.rows) {
    case mt::Rows::same: return "rows kept";
    case mt::Rows::reduced: return "rows reduced";
    case mt::Rows::made: return "rows made";
    case mt::Rows::refused: return nullptr;
  }
  return nullptr;
}

const char* effect_fact(const mt::OpDef& def) {
  switch (def.effect) {
    case mt::Effect::host: return "acts";
    case mt::Effect::read: return "reads state";
    case mt::Effect::write: return "writes";
    default: return nullptr;
  }
}

std::string in_place_fact(const mt::OpDef& def) {
  if (def.is_alias) return "no copy";
  std::vector<std::string> inputs;
  for (const mt::InPlacePair& pair : def.in_place) {
    if (pair.input < 0) continue;
    const std::string name = def.inputs.names[std::min(pair.input, def.inputs.size() - 1)];
    if (std::find(inputs.begin(), inputs.end(), name) == inputs.end()) inputs.push_back(name);
  }
  return inputs.empty() ? "" : "in place of " + mt::join(inputs, " or ");
}

std::string facts(const mt::OpDef& def) {
  std::vector<std::string> list{gradient_fact(def)};
  for (const char* fact : {effect_fact(def), rows_fact(def)})
    if (fact) list.emplace_back(fact);
  if (std::string fact = in_place_fact(def); !fact.empty()) list.push_back(std::move(fact));
  return mt::join(list, " · ");
}

std::vector<const mt::OpDef*> by_family() {
  std::vector<const mt::OpDef*> ops = mt::all_ops();
  std::sort(ops.begin(), ops.end(), [](const mt::OpDef* a, const mt::OpDef* b) {
    return std::make_tuple(std::string_view(a->family), std::string_view(a->name)) <
           std::make_tuple(std::string_view(b->family), std::string_view(b->name));
  });
  return ops;
}

// The heading's name in a link.
std::string anchor(std::string_view heading) {
  std::string text;
  for (char c : heading) text += c == ' ' ? '-' : c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return text;
}

std::string page() {
  std::string contents, body;
  std::string_view family;
  for (const mt::OpDef* def : by_family()) {
    if (family != def->family) {
      family = def->family;
      contents += mt::str("\n- **[", family, "](#", anchor(family), ")**");
      body += mt::str("\n## ", family, "\n");
    }
    contents += mt::str(" [", def->name, "](#", def->name, ")");
    body += mt::str("\n### ", def->name, "\n\n    ", signature(*def), "\n\n", def->doc, "  \n*", facts(*def), "*\n");
  }
  return mt::str(kHead, contents, "\n", body);
}

std::string read(const char* path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

// The first line that differs, as it is and as it should be.
int report_difference(const char* path, const std::string& text) {
  const auto is = mt::split(read(path), '\n'), should = mt::split(text, '\n');
  size_t i = 0;
  while (i < is.size() && i < should.size() && is[i] == should[i]) ++i;
  std::printf("%s:%zu differs from the definitions of the ops. Run ./dev docs and commit the page.\n- %s\n+ %s\n", path,
              i + 1, i < is.size() ? is[i].c_str() : "(end)", i < should.size() ? should[i].c_str() : "(end)");
  return 1;
}

int run(int argc, char** argv) {
  const bool is_check = argc == 3 && std::string_view(argv[1]) == "--check";
  if (argc != 2 && !is_check) return std::fputs("usage: generate_ops_docs [--check] FILE\n", stderr), 2;
  const char* path = argv[argc - 1];
  const std::string text = page();
  if (is_check) return read(path) == text ? 0 : report_difference(path, text);
  std::ofstream file(path);
  return file.write(text.data(), static_cast<std::streamsize>(text.size())).flush() ? 0 : (std::perror(path), 1);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}
