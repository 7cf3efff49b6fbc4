#include <martello/graph/internal/field_visitor.h>
#include <martello/graph/internal/graph_text.h>

#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>

namespace martello::internal {
namespace {

// More elements than a person reads are written as bytes.
constexpr int64_t kDecimalElements = 64;
constexpr char kHexDigits[] = "0123456789abcdef";

template <class T>
std::string element_text(T v) {
  if constexpr (std::is_same_v<T, bool>) {
    return v ? "true" : "false";
  } else if constexpr (std::integral<T>) {
    return str(v);
  } else if constexpr (std::is_same_v<T, double>) {
    return str(v);
  } else {
    char text[32];  // shortest for float: 0.1, not 0.10000000149011612
    return {text, std::to_chars(text, text + sizeof text, static_cast<float>(v)).ptr};
  }
}

// Decimal text has one NaN; others keep their bits only as bytes.
template <class T>
bool is_odd_nan(T v) {
  if constexpr (std::integral<T>) {
    return false;
  } else {
    using Limits = std::conditional_t<std::is_same_v<T, double>, double, float>;
    const T plain(std::numeric_limits<Limits>::quiet_NaN());
    return std::isnan(static_cast<Limits>(v)) && std::memcmp(&v, &plain, sizeof v) != 0;
  }
}

// A bool element that is neither 0 nor 1 must not be read as a bool.
bool is_odd_bool(const HostTensor& tensor) {
  if (tensor.dtype() != boolean) return false;
  for (int64_t i = 0; i < tensor.num_elements(); ++i) {
    if (std::to_integer<int>(tensor.raw()[i]) > 1) return true;
  }
  return false;
}

bool needs_bytes(const HostTensor& tensor) {
  if (tensor.num_elements() > kDecimalElements || is_odd_bool(tensor)) return true;
  return visit_dtype(tensor.dtype(), [&]<class T>(T) {
    for (T v : tensor.data<T>()) {
      if (is_odd_nan(v)) return true;
    }
    return false;
  });
}

std::string bytes_text(const HostTensor& tensor) {
  std::string out = "hex ";
  out.reserve(out.size() + static_cast<size_t>(tensor.num_bytes()) * 2);
  for (int64_t i = 0; i < tensor.num_bytes(); ++i) {
    const auto byte = std::to_integer<unsigned>(tensor.raw()[i]);
    out += kHexDigits[byte >> 4];
    out += kHexDigits[byte & 15];
  }
  return out;
}

std::string decimal_text(const HostTensor& tensor) {
  std::vector<std::string> parts;
  visit_dtype(tensor.dtype(), [&]<class T>(T) {
    for (T v : tensor.data<T>()) parts.push_back(element_text(v));
  });
  return join(parts);
}

// Collects the fields of one attributes struct as text.
class AttrsPrinter {
 public:
  AttrsPrinter(TextOptions options, int indent) : options_(options), indent_(indent) {}

  template <class T>
  void operator()(const char* name, const T& v) {
    fields.emplace_back(name, text(v));
  }
  void operator()(const char* name, int v, const std::vector<std::string>& names) {
    const auto i = static_cast<size_t>(v);
    MARTELLO_ASSERT(v >= 0 && i < names.size(), "[text] attribute '", name, "' has number ", v, " of an enum with ",
                    names.size(), " values");
    fields.emplace_back(name, word_text(names[i]));
  }

  std::vector<std::pair<std::string, std::string>> fields;

 private:
  template <class T>
  requires std::is_arithmetic_v<T> std::string text(const T& v)
  const { return str(v); }
  std::string text(const std::string& v) const { return quoted(v); }
  std::string text(DType v) const { return str(v); }
  std::string text(const Shape& v) const { return shape_text(v); }
  std::string text(const HostTensor& v) const { return tensor_text(v); }
  std::string text(const Subgraph& v) const { return subgraph_text(v, options_, indent_); }
  std::string text(const HostFunction& v) const { return v.is_null() ? "none" : str("host(", quoted(v.name()), ")"); }
  template <class T>
  std::string text(const std::vector<T>& v) const {
    std::vector<std::string> parts;
    for (const T& item : v) parts.push_back(str(item));
    return str("[", join(parts), "]");
  }

  TextOptions options_;
  int indent_;
};

AttrsPrinter printed(const Attrs& attrs, TextOptions options, int indent) {
  AttrsPrinter printer(options, indent);
  EachField visitor(printer);
  attrs.visit(visitor);
  return printer;
}

}  // namespace

std::string tensor_text(const HostTensor& tensor) {
  return str(tensor.dtype(), tensor.shape(), "(", needs_bytes(tensor) ? bytes_text(tensor) : decimal_text(tensor), ")");
}

std::string shape_text(const Shape& shape) {
  std::vector<std::string> parts;
  for (int64_t d : shape.symbolic()) parts.push_back(d >= 0 ? str(d) : d == kUnknown ? "?" : str("?", -2 - d));
  return str("[", join(parts), "]");
}

std::string attrs_text(const Attrs& attrs, TextOptions options, int indent) {
  const auto fields = printed(attrs, options, indent).fields;
  const auto defaults = printed(Attrs(attrs.type()->create(), attrs.type()), options, indent).fields;
  std::vector<std::string> parts;
  for (size_t i = 0; i < fields.size(); ++i) {
    if (i >= defaults.size() || fields[i] != defaults[i]) parts.push_back(str(fields[i].first, "=", fields[i].second));
  }
  return parts.empty() ? "" : str("{", join(parts), "}");
}

}  // namespace martello::internal
