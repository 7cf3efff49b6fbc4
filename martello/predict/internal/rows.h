#pragma once
#include <martello/tensor/host_tensor.h>

#include <vector>

// Samples as rows of a batch.
namespace martello::internal {

// As many components, of the same dtypes and shapes.
bool can_stack(const HostTensors& a, const HostTensors& b);
// Along a new first axis, component by component.
HostTensors stacked(const std::vector<const HostTensors*>& samples);
// Row i of each output, for all i. Refuses outputs that have not so many.
std::vector<HostTensors> rows_of(const HostTensors& outputs, size_t count);

}  // namespace martello::internal
