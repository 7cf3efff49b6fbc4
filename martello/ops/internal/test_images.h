#pragma once
#include <martello/base/strings.h>
#include <martello/ops/data_format.h>
#include <martello/testing/op_test.h>

// For tests: the batches of images that every op of images takes.
namespace martello::testing {

struct ImageBatch {
  Shape shape;
  DataFormat data_format;
};

// None, one and several images of 1, 3 and 17 channels, in both formats.
inline std::vector<ImageBatch> image_batches() {
  constexpr int64_t kSizes[][4] = {{0, 5, 4, 1},  {0, 3, 2, 3}, {0, 3, 2, 17}, {1, 6, 7, 1},  {1, 5, 4, 3},
                                   {1, 3, 2, 17}, {2, 5, 4, 1}, {2, 3, 5, 3},  {2, 3, 2, 17}, {5, 3, 2, 3}};
  std::vector<ImageBatch> list;
  for (const auto& [n, h, w, c] : kSizes) list.push_back({Shape(n, h, w, c), DataFormat::nhwc});
  for (const auto& [n, h, w, c] : kSizes) list.push_back({Shape(n, c, h, w), DataFormat::nchw});
  return list;
}

// row(label, images, options) for each batch, with the options in turn and, where they have one, its data format.
template <class Options, class Row>
std::vector<OpCase> image_rows(const std::vector<Options>& options, Row row) {
  std::vector<OpCase> rows;
  for (const ImageBatch& batch : image_batches()) {
    Options own = options[rows.size() % options.size()];
    if constexpr (requires { own.data_format; }) own.data_format = batch.data_format;
    rows.push_back(row(str(batch.data_format, batch.shape), randn(batch.shape), own));
  }
  return rows;
}

inline OpCase value_only(OpCase c) {
  c.gradient = false;
  return c;
}
inline OpCase twice(OpCase c) {
  c.second_order = true;
  return c;
}

}  // namespace martello::testing
