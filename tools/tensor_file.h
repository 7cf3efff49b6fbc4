#pragma once
#include <martello/tensor/host_tensor.h>

#include <functional>
#include <map>
#include <string>
#include <vector>

// Files of named tensors, whatever their format: .safetensors (checkpoints among them) and .npz.
namespace martello::tools {

struct TensorEntry {
  std::string name;
  DType dtype = f32;
  Shape shape = {};
  int64_t bytes() const { return shape.num_elements() * size_of(dtype); }
  std::string spec() const;  // "f32[3, 4]"
};

struct TensorFile {
  std::string path;
  std::string format;                // "safetensors", "npz"
  std::vector<TensorEntry> entries;  // sorted by name
  std::map<std::string, std::string> metadata;
  std::function<HostTensor(const std::string& name)> read;

  const TensorEntry* find(const std::string& name) const;
  int64_t num_elements() const;
  int64_t bytes() const;
};

// By the file's name: .npz, else safetensors.
TensorFile open_tensor_file(const std::string& path);

// Whether a run was saved in it, and not only tensors.
bool is_checkpoint(const TensorFile& file);
// Tensors of a checkpoint that are no variables: how far the run was, the state of its data and callbacks.
bool is_reserved(const std::string& name);

// The path itself, or for a directory its checkpoints (model-*.safetensors), by step.
std::vector<std::string> checkpoints_of(const std::string& path);
// Of model-<step>.safetensors; -1: it is not called so.
int64_t step_of(const std::string& path);

}  // namespace martello::tools
