#pragma once
#include <martello/data/dataflow.h>

#include <string>
#include <vector>

namespace martello::data {

// The tensor of an IDX file (u8, i32, f32 or f64), gzipped or not: u8[60000, 28, 28] for MNIST's images. Throws
// NotFound or InvalidArgument with the file's name; a file that claims more than it holds costs no memory.
HostTensor read_idx(const std::string& path);
// Row i of each file: images and labels, for instance.
DataFlowRef idx_files(const std::vector<std::string>& paths);

}  // namespace martello::data
