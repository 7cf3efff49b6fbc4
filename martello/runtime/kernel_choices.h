#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace martello {

// Who decides where a node has several kernels. `measured` and `replayed` take what was recorded; for other nodes
// `measured` times the kernels while it plans, and `replayed` refuses.
enum class KernelChoice { fixed, measured, replayed };
std::string_view to_string(KernelChoice choice);

// Which kernel runs which kind of node: its op, shapes, dtypes, attributes and threads. As text, for checkpoints:
//   martello kernel choices 1
//   conv2d(f32[128, 14, 14, 32], f32[3, 3, 32, 32]) 2 threads => own winograd
class KernelChoices {
 public:
  // Throws InvalidArgument, with the number of the line, for what str() would not have written.
  static KernelChoices parse(std::string_view text);
  std::string str() const;

  size_t size() const { return entries_.size(); }
  const std::string* find(const std::string& node) const;  // the kernel's name, or null
  void set(const std::string& node, const std::string& kernel);
  bool operator==(const KernelChoices&) const = default;

 private:
  struct Entry {
    std::string node, kernel;
    bool operator==(const Entry&) const = default;
  };
  size_t place_of(const std::string& node) const;  // where it stands or would stand

  std::vector<Entry> entries_;  // by node; a map's header would cost every user's program
};

}  // namespace martello
