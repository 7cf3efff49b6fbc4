#pragma once
#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace martello {

class State;

// Something that saves and restores itself with one function.
template <class T>
concept HasState = requires(T& part, State& s) {
  part.state(s);
};

// Named values, saved and restored by one function: `void state(State& s) override { s("best", best_); }` stores best_
// or sets it. Keys are unique within one object; parts that have a state() of their own nest. Restoring is strict:
// a value that is missing, of another type, or left over is refused with its name.
class State {
 public:
  State() = default;  // saves
  // Restores from what bytes() gave; refuses anything else. Takes no more memory than twice the bytes, whatever they
  // say; a list of texts takes 32 for each text, which has 8 at least.
  static State from_bytes(std::string bytes);

  bool restoring() const { return restoring_; }
  // Restoring: whether the value was saved. Saving: true.
  bool has(std::string_view key) const;

  void operator()(std::string_view key, bool& value);
  void operator()(std::string_view key, int& value);
  void operator()(std::string_view key, int64_t& value);
  void operator()(std::string_view key, uint64_t& value);
  void operator()(std::string_view key, float& value);
  void operator()(std::string_view key, double& value);
  void operator()(std::string_view key, std::string& value);
  void operator()(std::string_view key, std::vector<int64_t>& value);
  void operator()(std::string_view key, std::vector<double>& value);
  void operator()(std::string_view key, std::vector<std::string>& value);
  template <HasState T>
  void operator()(std::string_view key, T& part) {
    if (!restoring_) return save_part(key, saved(part));
    State nested = nested_state(key);
    part.state(nested);
    nested.check_all_read();
  }

  // What was saved.
  std::string bytes() const;
  // Restoring: refuses values that nobody asked for.
  void check_all_read() const;

 private:
  // A value of data_. No larger than the smallest of them, so that bytes from elsewhere cannot ask for much.
  struct Entry {
    size_t begin;
    bool was_read = false;
  };

  template <HasState T>
  static std::string saved(T& part) {
    State nested;
    part.state(nested);
    return nested.bytes();
  }
  void save_part(std::string_view key, const std::string& bytes);
  State nested_state(std::string_view key);
  void save(std::string_view key, char tag, const void* payload, size_t size);
  std::string_view load(std::string_view key, char tag);
  template <class T>
  void number(std::string_view key, char tag, T& value);
  template <class T>
  void numbers(std::string_view key, char tag, std::vector<T>& values);
  std::string_view key_of(const Entry& entry) const;
  size_t find(std::string_view key) const;  // an entry, from the one on that comes next; as many as there are for none
  std::string known_keys() const;

  bool restoring_ = false;
  std::string data_;
  std::vector<Entry> entries_;
  size_t next_ = 0;  // values are mostly read in the order in which they were saved
};

template <HasState T>
std::string save_state(T& part) {
  State s;
  part.state(s);
  return s.bytes();
}
template <HasState T>
void restore_state(T& part, std::string bytes) {
  State s = State::from_bytes(std::move(bytes));
  part.state(s);
  s.check_all_read();
}

}  // namespace martello
