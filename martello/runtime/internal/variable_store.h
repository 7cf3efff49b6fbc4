#pragma once
#include <martello/graph/node.h>
#include <martello/tensor/buffer.h>
#include <martello/tensor/host_tensor.h>

#include <functional>
#include <shared_mutex>
#include <string>
#include <unordered_map>
#include <vector>

namespace martello {

// The values of a session's variables. Compute holds `mutex` shared, update exclusively. Variables of one optimizer
// group lie in one flat arena, in reverse order of creation; forming a group moves them and bumps the generation, upon
// which lanes take the new addresses.
class VariableStore {
 public:
  struct Entry {
    std::string name;
    Shape shape;
    DType dtype = f32;
    Device device;
    Buffer buffer;
    int64_t offset = 0;
    int64_t bytes = 0;
    uint64_t version = 0;  // counts writes: a derived form made of an older version is stale
    int group = -1;
    bool is_initialized = false;
  };

  // The variable of this node, made when it is new. `index` is stable.
  int add(const OpNode& variable);
  int find(const std::string& name) const;  // -1 when there is none
  const Entry& entry(int index) const { return entries_[static_cast<size_t>(index)]; }
  std::byte* address(int index) const {
    const Entry& e = entry(index);
    return e.buffer.data() + e.offset;
  }
  size_t size() const { return entries_.size(); }

  // Lays these out side by side, each aligned; nothing when they are so already or one belongs to another group.
  void form_group(const std::vector<int>& members);
  // Bytes from the start of its group; 0 for a variable of no group.
  int64_t offset_in_group(int index) const { return entry(index).offset; }

  HostTensor read(int index) const;
  void write(int index, const HostTensor& value);
  void count_write(int index) { ++entries_[static_cast<size_t>(index)].version; }

  uint64_t generation() const { return generation_; }
  mutable std::shared_mutex mutex;

 private:
  std::vector<Entry> entries_;
  std::unordered_map<std::string, int> by_name_;
  uint64_t generation_ = 1;
  int groups_ = 0;
};

}  // namespace martello
