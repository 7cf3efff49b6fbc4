#include <martello/base/error.h>
#include <martello/predict/internal/rows.h>

#include <algorithm>
#include <cstring>

namespace martello::internal {
namespace {

HostTensor stacked_component(const std::vector<const HostTensors*>& samples, size_t i) {
  const HostTensor& first = (*samples[0])[i];
  std::vector<int64_t> dims = first.shape().symbolic();
  dims.insert(dims.begin(), static_cast<int64_t>(samples.size()));
  HostTensor all{Shape(dims), first.dtype()};
  const auto bytes = static_cast<size_t>(first.num_bytes());
  std::byte* to = all.mutable_raw();
  for (const HostTensors* sample : samples) {
    if (bytes > 0) std::memcpy(to, (*sample)[i].raw(), bytes);
    to += bytes;
  }
  return all;
}

HostTensor row_of(const HostTensor& output, size_t row) {
  HostTensor value(output.shape().slice(1, output.shape().rank()), output.dtype());
  const auto bytes = static_cast<size_t>(value.num_bytes());
  if (bytes > 0) std::memcpy(value.mutable_raw(), output.raw() + row * bytes, bytes);
  return value;
}

}  // namespace

bool can_stack(const HostTensors& a, const HostTensors& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const HostTensor& x, const HostTensor& y) {
    return x.dtype() == y.dtype() && x.shape() == y.shape();
  });
}

HostTensors stacked(const std::vector<const HostTensors*>& samples) {
  HostTensors all;
  for (size_t i = 0; i < samples[0]->size(); ++i) all.push_back(stacked_component(samples, i));
  return all;
}

std::vector<HostTensors> rows_of(const HostTensors& outputs, size_t count) {
  for (size_t i = 0; i < outputs.size(); ++i)
    MARTELLO_CHECK(outputs[i].shape().rank() > 0 && outputs[i].shape()[0] == static_cast<int64_t>(count),
                   "[predict] output ", i, " is ", outputs[i].dtype(), outputs[i].shape(), " for a batch of ", count,
                   " samples. It needs one row for each of them.");
  std::vector<HostTensors> rows(count);
  for (size_t r = 0; r < count; ++r)
    for (const HostTensor& output : outputs) rows[r].push_back(row_of(output, r));
  return rows;
}

}  // namespace martello::internal
