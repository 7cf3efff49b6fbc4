#pragma once
#include <martello/base/source_line.h>
#include <martello/tensor/dtype.h>
#include <martello/tensor/shape.h>

#include <string>

namespace martello {

// What a tensor is, without its value: the signature of an input, or what an op's shape function says of an output.
struct TensorSpec {
  Shape shape = {};
  DType dtype = f32;
  std::string name = {};
  SourceLine line = SourceLine::current();

  std::string str() const;  // "f32[32, ?]"
};
using InputDesc = TensorSpec;

}  // namespace martello
