#pragma once
#include <martello/models/layer.h>
#include <martello/models/opt.h>
#include <martello/ops/data_format.h>
#include <martello/ops/padding.h>
#include <martello/tensor/host_tensor.h>

namespace martello {

struct Pooling {
  Opt<Size2> size = unset(2);
  Opt<Size2> stride = unset(0);  // 0: the size
  Opt<Padding> padding = unset(Pad::valid);
  Opt<DataFormat> data_format = unset(DataFormat::nhwc);
  static void fields(auto&& f, auto&... self) {
    f("size", self.size...);
    f("stride", self.stride...);
    f("padding", self.padding...);
    f("data_format", self.data_format...);
  }
};
LayerOutput max_pooling(std::string_view name, Tensor x, Pooling options = {}, SourceLine line = SourceLine::current());
// The mean of a window leaves out its padding.
LayerOutput avg_pooling(std::string_view name, Tensor x, Pooling options = {}, SourceLine line = SourceLine::current());

struct GlobalAvgPooling {
  Opt<DataFormat> data_format = unset(DataFormat::nhwc);
  static void fields(auto&& f, auto&... self) { f("data_format", self.data_format...); }
};
// [N, H, W, C] to [N, C].
LayerOutput global_avg_pooling(std::string_view name, Tensor x, GlobalAvgPooling options = {},
                               SourceLine line = SourceLine::current());

struct FixedUnPooling {
  Opt<Size2> size = unset(2);
  Opt<HostTensor> matrix = unset(HostTensor());  // [size]; without one: 1 at the top left, 0 elsewhere
  Opt<DataFormat> data_format = unset(DataFormat::nhwc);
  static void fields(auto&& f, auto&... self) {
    f("size", self.size...);
    f("matrix", self.matrix...);
    f("data_format", self.data_format...);
  }
};
// Every pixel becomes the pixel times the matrix. The result keeps the op's own name.
LayerOutput fixed_unpooling(std::string_view name, Tensor x, FixedUnPooling options = {},
                            SourceLine line = SourceLine::current());

}  // namespace martello
