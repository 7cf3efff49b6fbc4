#pragma once
#include <martello/data/sources.h>

#include <vector>

namespace martello::data::internal {

struct RowType {
  Shape shape;
  DType dtype;
};

// A source whose datapoints are all alike and can be written where they are needed: batch() gathers them straight into
// its buffer, without a datapoint for each.
class RowFlow : public IndexedFlow {
 public:
  virtual const std::vector<RowType>& row_types() const = 0;  // of each component
  virtual void write_row(int64_t row, size_t component, std::byte* to) const = 0;
  Datapoint get(int64_t index, Rng&) const final;
};

// Random access to such a source, maybe in another order.
class RowAccess : public RandomAccess {
 public:
  virtual const RowFlow* rows() const = 0;  // null: the datapoints are no rows
  virtual int64_t row_of(int64_t index) const = 0;
};

int64_t num_bytes(const RowType& type);

}  // namespace martello::data::internal
