#include <martello/base/checked.h>
#include <martello/base/error.h>
#include <martello/base/utf8.h>
#include <martello/codec/internal/safetensors_header.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

namespace martello::internal {
namespace {

using nlohmann::json;
using Entry = SafetensorsFile::Entry;

constexpr std::string_view kMetadata = "__metadata__";
constexpr int kMostDepth = 4;
constexpr std::pair<DType, std::string_view> kNames[] = {{f32, "F32"}, {f64, "F64"}, {bf16, "BF16"}, {f16, "F16"},
                                                         {i32, "I32"}, {i64, "I64"}, {u8, "U8"},     {boolean, "BOOL"}};

DType dtype_of_name(const std::string& name, const std::string& tensor) {
  std::vector<std::string> known;
  for (const auto& [dtype, text] : kNames) {
    if (text == name) return dtype;
    known.emplace_back(text);
  }
  throw InvalidArgument(str("tensor '", tensor, "' has the dtype ", martello::quoted(name), ", which is none of ours (",
                            join(known), "). Convert it where the file was written."));
}

// The library's own parser takes the last of two equal keys; here that is an error.
json parse_without_duplicates(std::string_view text) {
  std::vector<std::set<std::string>> keys;
  const auto watch = [&](int depth, json::parse_event_t event, json& value) {
    MARTELLO_CHECK(depth <= kMostDepth, "its header nests deeper than ", kMostDepth, " levels.");
    if (event == json::parse_event_t::object_start) keys.emplace_back();
    else if (event == json::parse_event_t::object_end) keys.pop_back();
    else if (event == json::parse_event_t::key)
      MARTELLO_CHECK(keys.back().insert(value.get<std::string>()).second, "the name ", value.dump(), " comes twice.");
    return true;
  };
  try {
    return json::parse(text, watch);
  } catch (const json::exception& e) {
    throw InvalidArgument(str("its header is no JSON (", e.what(), ")."));
  }
}

int64_t size_in(const json& value, const std::string& tensor, std::string_view field) {
  MARTELLO_CHECK(value.is_number_unsigned() && value.get<uint64_t>() <= INT64_MAX, "tensor '", tensor, "' has ",
                 value.dump(), " in its ", field, ", which is no size.");
  return value.get<int64_t>();
}

const json& field_of(const json& object, const char* field, json::value_t type, const std::string& tensor) {
  const auto found = object.find(field);
  MARTELLO_CHECK(found != object.end(), "tensor '", tensor, "' has no ", field, ".");
  MARTELLO_CHECK(found->type() == type, "tensor '", tensor, "' has a ", field, " that is a ", found->type_name(), ".");
  return *found;
}

Entry decode_entry(const std::string& name, const json& object) {
  MARTELLO_CHECK(object.is_object(), "tensor '", name, "' is a ", object.type_name(), ", not an object.");
  for (const auto& [key, value] : object.items())
    MARTELLO_CHECK(key == "dtype" || key == "shape" || key == "data_offsets", "tensor '", name,
                   "' has an unknown field ", martello::quoted(key), ".");
  Entry entry{.name = name};
  entry.dtype = dtype_of_name(field_of(object, "dtype", json::value_t::string, name).get<std::string>(), name);
  std::vector<int64_t> dims;
  for (const json& d : field_of(object, "shape", json::value_t::array, name)) dims.push_back(size_in(d, name, "shape"));
  entry.shape = Shape(std::move(dims));
  const json& offsets = field_of(object, "data_offsets", json::value_t::array, name);
  MARTELLO_CHECK(offsets.size() == 2, "tensor '", name, "' has ", offsets.size(), " data_offsets, not 2.");
  entry.begin = size_in(offsets[0], name, "data_offsets");
  entry.end = size_in(offsets[1], name, "data_offsets");
  return entry;
}

void check_size(const Entry& e, int64_t data_bytes) {
  MARTELLO_CHECK(e.begin <= e.end && e.end <= data_bytes, "tensor '", e.name, "' lies at bytes ", e.begin, " to ",
                 e.end, " of ", data_bytes, ".");
  const int64_t bytes = [&] {
    try {
      return checked_mul(e.shape.num_elements(), size_of(e.dtype));
    } catch (const SizeOverflow&) {
      throw InvalidArgument(str("tensor '", e.name, "' has a shape ", e.shape, " beyond all sizes."));
    }
  }();
  MARTELLO_CHECK(e.end - e.begin == bytes, "tensor '", e.name, "' is ", e.dtype, e.shape, ", ", bytes,
                 " bytes, but has ", e.end - e.begin, " in the file.");
}

// Every byte belongs to one tensor.
void check_places(std::vector<Entry> entries, int64_t data_bytes) {
  std::sort(entries.begin(), entries.end(),
            [](const Entry& a, const Entry& b) { return std::pair(a.begin, a.end) < std::pair(b.begin, b.end); });
  int64_t at = 0;
  for (size_t i = 0; i < entries.size(); ++i) {
    const Entry& e = entries[i];
    MARTELLO_CHECK(e.begin >= at, "tensors '", entries[i - 1].name, "' and '", e.name, "' overlap at byte ", e.begin,
                   ".");
    MARTELLO_CHECK(e.begin == at, "bytes ", at, " to ", e.begin, " before tensor '", e.name, "' belong to none.");
    at = e.end;
  }
  MARTELLO_CHECK(at == data_bytes, "the last ", data_bytes - at, " of ", data_bytes, " bytes belong to no tensor.");
}

std::map<std::string, std::string> decode_metadata(const json& object) {
  MARTELLO_CHECK(object.is_object(), kMetadata, " is a ", object.type_name(), ", not an object.");
  std::map<std::string, std::string> metadata;
  for (const auto& [key, value] : object.items()) {
    MARTELLO_CHECK(value.is_string(), kMetadata, " has a ", value.type_name(), " under ", martello::quoted(key),
                   ", not a text.");
    metadata[key] = value.get<std::string>();
  }
  return metadata;
}

void check_texts(const SafetensorsHeader& header) {
  for (const Entry& e : header.entries)
    MARTELLO_CHECK(is_utf8(e.name), "[safetensors] the name ", martello::quoted(e.name),
                   " is no UTF-8, as all names and texts of such a file are. Rename the tensor.");
  for (const auto& [key, text] : header.metadata)
    MARTELLO_CHECK(is_utf8(key) && is_utf8(text), "[safetensors] the metadata ", martello::quoted(key),
                   " is no UTF-8, as all names and texts of such a file are.");
}

}  // namespace

std::string_view safetensors_name(DType dtype) {
  for (const auto& [d, text] : kNames)
    if (d == dtype) return text;
  return "";
}

std::string encode_header(SafetensorsHeader& header) {
  check_texts(header);
  std::sort(header.entries.begin(), header.entries.end(), [](const Entry& a, const Entry& b) {
    return std::pair(-size_of(a.dtype), a.name) < std::pair(-size_of(b.dtype), b.name);
  });
  json text = json::object();
  if (!header.metadata.empty()) text[std::string(kMetadata)] = header.metadata;
  int64_t at = 0;
  for (Entry& e : header.entries) {
    MARTELLO_CHECK(e.name != kMetadata && !text.contains(e.name), "[safetensors] the name '", e.name, "' is taken.");
    e.begin = at;
    at = e.end = checked_add(at, checked_mul(e.shape.num_elements(), size_of(e.dtype)));
    text[e.name] = {
        {"dtype", safetensors_name(e.dtype)}, {"shape", e.shape.symbolic()}, {"data_offsets", {e.begin, e.end}}};
  }
  return text.dump();
}

SafetensorsHeader decode_header(std::string_view text, int64_t data_bytes) {
  MARTELLO_CHECK(text.starts_with("{"), "its header does not begin with {.");
  // The parser would take it for the end.
  MARTELLO_CHECK(text.find('\0') == std::string_view::npos, "its header is no JSON: it has a byte that is 0.");
  const json parsed = parse_without_duplicates(text);
  MARTELLO_CHECK(parsed.is_object(), "its header is no JSON object.");
  SafetensorsHeader header;
  for (const auto& [name, value] : parsed.items()) {
    if (name == kMetadata) header.metadata = decode_metadata(value);
    else header.entries.push_back(decode_entry(name, value));
  }
  for (const Entry& e : header.entries) check_size(e, data_bytes);
  check_places(header.entries, data_bytes);
  return header;
}

}  // namespace martello::internal
