#pragma once
#include <martello/tensor/dtype.h>

#include <cstdint>

namespace martello {

// One device's place in a group of devices that compute together. Every member calls the same functions in the same
// order; a call returns when the result is there.
class Communicator {
 public:
  virtual ~Communicator() = default;
  virtual int size() const = 0;  // members of the group, this one included
  // Each element becomes the sum of that element over all members, with the same bits on each.
  virtual void all_reduce_sum(void* data, int64_t count, DType dtype) = 0;
};

}  // namespace martello
