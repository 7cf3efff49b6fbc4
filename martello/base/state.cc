#include <martello/base/error.h>
#include <martello/base/state.h>

#include <algorithm>
#include <cstring>
#include <limits>

namespace martello {
namespace {

// "MTSTATE" and the version of the format.
constexpr std::string_view kHead("MTSTATE\x01", 8);

struct Tag {
  char tag;
  const char* text;
};
constexpr Tag kTags[] = {{'b', "bool"},
                         {'i', "integer"},
                         {'u', "unsigned integer"},
                         {'f', "float"},
                         {'d', "double"},
                         {'s', "string"},
                         {'I', "list of integers"},
                         {'D', "list of doubles"},
                         {'S', "list of strings"},
                         {'o', "nested part"}};

const char* text_of(char tag) {
  for (const Tag& t : kTags)
    if (t.tag == tag) return t.text;
  return nullptr;
}

void append_size(std::string& out, size_t size) {
  const auto wide = static_cast<uint64_t>(size);
  out.append(reinterpret_cast<const char*>(&wide), sizeof wide);
}

size_t take_size(std::string_view data, size_t& at, size_t least) {
  uint64_t size = 0;
  MARTELLO_CHECK(data.size() - at >= sizeof size, "[state] ends after ", data.size(),
                 " bytes, in the middle of a size.");
  std::memcpy(&size, data.data() + at, sizeof size);
  at += sizeof size;
  MARTELLO_CHECK(size <= data.size() - at && data.size() - at - size >= least, "[state] a value claims ", size,
                 " bytes, ", data.size() - at, " are left. The state is damaged.");
  return static_cast<size_t>(size);
}

// As it lies in the bytes.
struct Value {
  char tag;
  std::string_view key, payload;
};

Value take_value(std::string_view data, size_t& at) {
  Value value{.tag = data[at++], .key = {}, .payload = {}};
  MARTELLO_CHECK(text_of(value.tag) != nullptr, "[state] has a value of the unknown type ", static_cast<int>(value.tag),
                 " at byte ", at - 1, ".");
  const size_t key_size = take_size(data, at, sizeof(uint64_t));
  value.key = data.substr(at, key_size);
  at += key_size;
  const size_t size = take_size(data, at, 0);
  value.payload = data.substr(at, size);
  at += size;
  return value;
}

Value value_at(std::string_view data, size_t begin) { return take_value(data, begin); }

std::string_view take_text(std::string_view data, size_t& at) {
  const size_t size = take_size(data, at, 0);
  at += size;
  return data.substr(at - size, size);
}

// How many parts `take` finds from `at` to the end: what is reserved for them is what they need.
template <class Take>
size_t count_of(std::string_view data, size_t at, Take take) {
  size_t count = 0;
  for (; at < data.size(); ++count) take(data, at);
  return count;
}

}  // namespace

State State::from_bytes(std::string bytes) {
  MARTELLO_CHECK(bytes.size() >= kHead.size() && bytes.compare(0, kHead.size() - 1, kHead, 0, kHead.size() - 1) == 0,
                 "[state] ", bytes.size(), " bytes that do not begin as a saved state does.");
  MARTELLO_CHECK(bytes[kHead.size() - 1] == kHead.back(), "[state] is of version ",
                 static_cast<int>(bytes[kHead.size() - 1]), ", this library reads version ",
                 static_cast<int>(kHead.back()), ".");
  State s;
  s.restoring_ = true;
  s.data_ = std::move(bytes);
  s.entries_.reserve(count_of(s.data_, kHead.size(), take_value));
  for (size_t at = kHead.size(); at < s.data_.size(); take_value(s.data_, at)) s.entries_.push_back({at});
  return s;
}

std::string_view State::key_of(const Entry& entry) const { return value_at(data_, entry.begin).key; }

size_t State::find(std::string_view key) const {
  const size_t count = entries_.size();
  for (size_t i = 0; i < count; ++i)
    if (const size_t at = (next_ + i) % count; key_of(entries_[at]) == key) return at;
  return count;
}

std::string State::bytes() const {
  MARTELLO_ASSERT(!restoring_, "bytes() of a state that is restored");
  std::vector<std::string_view> keys;
  for (const Entry& entry : entries_) keys.push_back(key_of(entry));
  std::sort(keys.begin(), keys.end());
  const auto twice = std::adjacent_find(keys.begin(), keys.end());
  MARTELLO_CHECK(twice == keys.end(), "[state] '", *twice, "' is saved twice. Give each value its own key.");
  return std::string(kHead) + data_;
}

bool State::has(std::string_view key) const {
  if (!restoring_) return true;
  return find(key) < entries_.size();
}

void State::check_all_read() const {
  for (const Entry& entry : entries_)
    MARTELLO_CHECK(entry.was_read, "[state '", key_of(entry),
                   "'] was saved, but nothing asks for it. The state belongs to ",
                   "another object, or to another version of it.");
}

std::string State::known_keys() const {
  constexpr size_t kShown = 20;
  std::vector<std::string> keys;
  for (size_t i = 0; i < std::min(kShown, entries_.size()); ++i) keys.emplace_back(key_of(entries_[i]));
  if (keys.empty()) return "nothing";
  return str(join(keys), entries_.size() > kShown ? str(" and ", entries_.size() - kShown, " more") : "");
}

void State::save(std::string_view key, char tag, const void* payload, size_t size) {
  entries_.push_back({data_.size()});
  data_ += tag;
  append_size(data_, key.size());
  data_ += key;
  append_size(data_, size);
  if (size > 0) data_.append(static_cast<const char*>(payload), size);
}

std::string_view State::load(std::string_view key, char tag) {
  const size_t found = find(key);
  MARTELLO_CHECK(found < entries_.size(), "[state '", key, "'] was not saved; there is ", known_keys(),
                 ". The state belongs to another object, or to another version of it.");
  const Value value = value_at(data_, entries_[found].begin);
  MARTELLO_CHECK(value.tag == tag, "[state '", key, "'] was saved as ", text_of(value.tag), " and is asked for as ",
                 text_of(tag), ".");
  entries_[found].was_read = true;
  next_ = found + 1;
  return value.payload;
}

template <class T>
void State::number(std::string_view key, char tag, T& value) {
  if (!restoring_) return save(key, tag, &value, sizeof value);
  const std::string_view bytes = load(key, tag);
  MARTELLO_CHECK(bytes.size() == sizeof value, "[state '", key, "'] has ", bytes.size(), " bytes instead of ",
                 sizeof value, ".");
  std::memcpy(&value, bytes.data(), sizeof value);
}

template <class T>
void State::numbers(std::string_view key, char tag, std::vector<T>& values) {
  if (!restoring_) return save(key, tag, values.data(), values.size() * sizeof(T));
  const std::string_view bytes = load(key, tag);
  MARTELLO_CHECK(bytes.size() % sizeof(T) == 0, "[state '", key, "'] has ", bytes.size(), " bytes, not a multiple of ",
                 sizeof(T), ".");
  values.resize(bytes.size() / sizeof(T));
  if (!bytes.empty()) std::memcpy(values.data(), bytes.data(), bytes.size());
}

void State::operator()(std::string_view key, bool& value) {
  uint8_t byte = value;
  number(key, 'b', byte);
  value = byte != 0;
}

void State::operator()(std::string_view key, int& value) {
  int64_t wide = value;
  number(key, 'i', wide);
  MARTELLO_CHECK(std::numeric_limits<int>::min() <= wide && wide <= std::numeric_limits<int>::max(), "[state '", key,
                 "'] is ", wide, ", which does not fit into an int.");
  value = static_cast<int>(wide);
}

void State::operator()(std::string_view key, int64_t& value) { number(key, 'i', value); }
void State::operator()(std::string_view key, uint64_t& value) { number(key, 'u', value); }
void State::operator()(std::string_view key, float& value) { number(key, 'f', value); }
void State::operator()(std::string_view key, double& value) { number(key, 'd', value); }
void State::operator()(std::string_view key, std::vector<int64_t>& value) { numbers(key, 'I', value); }
void State::operator()(std::string_view key, std::vector<double>& value) { numbers(key, 'D', value); }

void State::operator()(std::string_view key, std::string& value) {
  if (!restoring_) return save(key, 's', value.data(), value.size());
  value = load(key, 's');
}

void State::operator()(std::string_view key, std::vector<std::string>& value) {
  std::string packed;
  if (!restoring_) {
    for (const std::string& text : value) append_size(packed, text.size()), packed += text;
    return save(key, 'S', packed.data(), packed.size());
  }
  const std::string_view bytes = load(key, 'S');
  value.clear();
  value.reserve(count_of(bytes, 0, take_text));
  for (size_t at = 0; at < bytes.size();) value.emplace_back(take_text(bytes, at));
}

void State::save_part(std::string_view key, const std::string& bytes) { save(key, 'o', bytes.data(), bytes.size()); }

State State::nested_state(std::string_view key) { return from_bytes(std::string(load(key, 'o'))); }

}  // namespace martello
