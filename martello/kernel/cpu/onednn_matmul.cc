#include <martello/kernel/cpu/onednn_internal.h>

namespace martello::onednn {
namespace {

dnnl::matmul::primitive_desc matmul_desc(const MatmulDesc& d) {
  const auto &a = desc_of(d.a), &b = desc_of(d.b), &y = desc_of(d.y);
  if (d.bias.is_null()) return make_desc<dnnl::matmul>(engine(), attributes(), a, b, y);
  return make_desc<dnnl::matmul>(engine(), attributes(), a, b, desc_of(d.bias), y);
}

}  // namespace

Primitive make_matmul(const OpInfo& op, const MatmulDesc& d, int threads) {
  return make_primitive<dnnl::matmul>(op, "matmul", threads, [&](Primitive::Impl& made) {
    auto pd = matmul_desc(d);
    made.descs = {{Role::src, pd.src_desc()}, {Role::weights, pd.weights_desc()}, {Role::dst, pd.dst_desc()}};
    if (!d.bias.is_null()) made.descs.emplace_back(Role::bias, pd.bias_desc());
    return pd;
  });
}

Primitive make_reorder(const OpInfo& op, const Layout& from, const Layout& to, int threads) {
  return make_primitive<dnnl::reorder>(op, "reorder", threads, [&](Primitive::Impl& made) {
    made.descs = {{Role::from, desc_of(from)}, {Role::to, desc_of(to)}};
    return dnnl::reorder::primitive_desc(engine(), desc_of(from), engine(), desc_of(to), attributes());
  });
}

}  // namespace martello::onednn
