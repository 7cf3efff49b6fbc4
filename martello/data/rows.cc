#include <martello/base/checked.h>
#include <martello/data/internal/rows.h>

namespace martello::data::internal {

int64_t num_bytes(const RowType& type) { return checked_mul(type.shape.num_elements(), size_of(type.dtype)); }

Datapoint RowFlow::get(int64_t index, Rng&) const {
  const std::vector<RowType>& types = row_types();
  HostTensors row;
  row.reserve(types.size());
  for (size_t i = 0; i < types.size(); ++i) {
    Buffer buffer(num_bytes(types[i]));
    write_row(index, i, buffer.data());
    row.push_back(HostTensor::wrap(std::move(buffer), types[i].shape, types[i].dtype));
  }
  return Datapoint::of(std::move(row));
}

}  // namespace martello::data::internal
