#include <martello/models/pooling.h>

#include <martello/base/error.h>
#include <martello/graph/core_ops.h>
#include <martello/models/arg_scope.h>
#include <martello/ops/pool.h>

namespace martello {
namespace {

using PoolOp = Tensor (*)(Operand, PoolAttrs, Name);

LayerOutput pooling(const LayerCall& call, const Pooling& o, PoolOp op) {
  return build_layer(call, [&](LayerScope& layer) {
    layer.check_rank(call.input, {4});
    layer.check_positive("size", std::min(o.size->h, o.size->w));
    return op(call.input, {.size = *o.size, .stride = *o.stride, .padding = *o.padding, .data_format = *o.data_format},
              "pool");
  });
}

}  // namespace

LayerOutput max_pooling(std::string_view name, Tensor x, Pooling options, SourceLine line) {
  return pooling({.type = "max_pooling", .name = name, .input = x, .line = line}, with_arg_scope(std::move(options)),
                 max_pool);
}

LayerOutput avg_pooling(std::string_view name, Tensor x, Pooling options, SourceLine line) {
  return pooling({.type = "avg_pooling", .name = name, .input = x, .line = line}, with_arg_scope(std::move(options)),
                 avg_pool);
}

LayerOutput global_avg_pooling(std::string_view name, Tensor x, GlobalAvgPooling options, SourceLine line) {
  const auto o = with_arg_scope(std::move(options));
  return build_layer({.type = "global_avg_pooling", .name = name, .input = x, .line = line}, [&](LayerScope& layer) {
    layer.check_rank(x, {4});
    return global_avg_pool(x, *o.data_format);
  });
}

LayerOutput fixed_unpooling(std::string_view name, Tensor x, FixedUnPooling options, SourceLine line) {
  const auto o = with_arg_scope(std::move(options));
  const LayerCall call{.type = "fixed_unpooling", .name = name, .input = x, .line = line, .output = nullptr};
  return build_layer(call, [&](LayerScope& layer) {
    layer.check_rank(x, {4});
    layer.check_positive("size", std::min(o.size->h, o.size->w));
    if (!o.matrix.is_set()) return unpool(x, *o.size, *o.data_format);
    MARTELLO_CHECK(o.matrix->shape() == Shape(o.size->h, o.size->w), layer.where(), "matrix is ", o.matrix->shape(),
                   " but size is ", *o.size, ".");
    return unpool(x, constant(o.matrix->cast(x.dtype()), "matrix"), *o.data_format);
  });
}

}  // namespace martello
