#pragma once
#include <martello/tensor/host_tensor.h>

#include <string>

// The u8 tensor of an IDX file, gzipped or not: [60000, 28, 28] for images, [60000] for labels. Throws
// martello::NotFound or martello::InvalidArgument with the file's name.
martello::HostTensor read_idx(const std::string& path);
