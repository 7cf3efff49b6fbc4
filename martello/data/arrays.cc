#include <martello/base/error.h>
#include <martello/data/internal/rows.h>

#include <cstring>

namespace martello::data {
namespace {

class ListFlow final : public IndexedFlow {
 public:
  explicit ListFlow(std::vector<Datapoint> list) : list_(std::move(list)) {}
  int64_t count() const override { return static_cast<int64_t>(list_.size()); }
  Datapoint get(int64_t index, Rng&) const override { return list_[static_cast<size_t>(index)]; }
  std::string description() const override { return str("from_list(", list_.size(), ")"); }

 private:
  std::vector<Datapoint> list_;
};

class ArraysFlow final : public internal::RowFlow {
 public:
  explicit ArraysFlow(HostTensors arrays) : arrays_(std::move(arrays)) {
    for (const HostTensor& array : arrays_) {
      types_.push_back({array.shape().slice(1, array.shape().rank()), array.dtype()});
      row_bytes_.push_back(internal::num_bytes(types_.back()));
    }
  }
  int64_t count() const override { return arrays_[0].shape()[0]; }
  const std::vector<internal::RowType>& row_types() const override { return types_; }
  void write_row(int64_t row, size_t component, std::byte* to) const override {
    const int64_t bytes = row_bytes_[component];
    std::memcpy(to, arrays_[component].raw() + row * bytes, static_cast<size_t>(bytes));
  }
  std::string description() const override {
    std::vector<std::string> parts;
    for (const HostTensor& array : arrays_) parts.push_back(str(array.dtype(), array.shape()));
    return str("from_arrays(", join(parts), ")");
  }

 private:
  HostTensors arrays_;
  std::vector<internal::RowType> types_;
  std::vector<int64_t> row_bytes_;
};

}  // namespace

DataFlowRef from_list(std::vector<Datapoint> list) { return ListFlow(std::move(list)); }

DataFlowRef from_arrays(HostTensors arrays) {
  MARTELLO_CHECK(!arrays.empty(), "[from_arrays] needs one array or more, got none.");
  for (size_t i = 0; i < arrays.size(); ++i) {
    MARTELLO_CHECK(arrays[i].shape().rank() >= 1, "[from_arrays] array ", i, " is a scalar (", arrays[i].dtype(),
                   "[]); rows lie along the first dimension.");
    MARTELLO_CHECK(arrays[i].shape()[0] == arrays[0].shape()[0], "[from_arrays] array ", i, " has ",
                   arrays[i].shape()[0], " rows, array 0 has ", arrays[0].shape()[0], " (", arrays[i].shape(), ", ",
                   arrays[0].shape(), ").");
  }
  return ArraysFlow(std::move(arrays));
}

}  // namespace martello::data
