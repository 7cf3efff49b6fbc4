#include "limits.h"

#include <martello/base/threads.h>
#include <martello/kernel/cpu/onednn_version.h>

#include <memory>
#include <unordered_map>

namespace bench {

std::function<void()> make_onednn_matmul(const Row& row, const martello::HostTensors& inputs, int threads) {
  using namespace dnnl;
  using Tag = memory::format_tag;
  const martello::HostTensor &a = inputs[0], &b = inputs[1];
  MARTELLO_CHECK(a.shape().rank() == 2 && b.shape().rank() == 2, "[bench] '", row.text,
                 "': oneDNN is called directly for products of two matrices only.");
  const bool turns_a = row.text.find("transpose_a=true") != std::string::npos,
             turns_b = row.text.find("transpose_b=true") != std::string::npos;
  const martello::ThreadCount team(threads);
  const auto engine = std::make_shared<dnnl::engine>(engine::kind::cpu, 0);
  const auto stream = std::make_shared<dnnl::stream>(*engine);
  const int64_t m = a.shape()[turns_a ? 1 : 0], k = a.shape()[turns_a ? 0 : 1], n = b.shape()[turns_b ? 0 : 1];
  const auto f32 = memory::data_type::f32, in = a.dtype() == martello::bf16 ? memory::data_type::bf16 : f32;
  const memory::desc da({m, k}, in, turns_a ? Tag::ba : Tag::ab), db({k, n}, in, turns_b ? Tag::ba : Tag::ab),
      dc({m, n}, f32, Tag::ab);
  const auto pd = martello::onednn::make_desc<matmul>(*engine, primitive_attr(), da, db, dc);
  const auto handle = [](const martello::HostTensor& t) { return const_cast<std::byte*>(t.raw()); };
  std::unordered_map<int, memory> arguments = {{DNNL_ARG_SRC, memory(da, *engine, handle(a))},
                                               {DNNL_ARG_WEIGHTS, memory(db, *engine, handle(b))},
                                               {DNNL_ARG_DST, memory(dc, *engine)}};
  return [engine, stream, primitive = matmul(pd), arguments, threads, a, b] {
    const martello::ThreadCount scope(threads);
    primitive.execute(*stream, arguments);
  };
}

}  // namespace bench
