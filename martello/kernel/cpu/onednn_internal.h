#pragma once
#include <martello/base/error.h>
#include <martello/base/threads.h>
#include <martello/kernel/cpu/onednn.h>
#include <martello/kernel/cpu/onednn_version.h>

#include <utility>

// For onednn*.cc only: the library's types behind the adapter's.
namespace martello::onednn {

struct Layout::Impl {
  dnnl::memory::desc desc;
};

struct Primitive::Impl {
  dnnl::primitive primitive;
  dnnl::memory::desc scratch;
  std::vector<std::pair<Role, dnnl::memory::desc>> descs;
  std::string implementation;
  std::string where;  // "[matmul 'fc'] "
};

const dnnl::engine& engine();
dnnl::memory::data_type data_type(DType dtype);
int argument(Role role);  // DNNL_ARG_...
// Attributes that every primitive of ours has: scratch comes from the plan.
dnnl::primitive_attr attributes();
Layout make_layout(const dnnl::memory::desc& desc);
inline const dnnl::memory::desc& desc_of(const Layout& layout) { return layout.impl().desc; }

// Rethrows what the library threw as InternalError: op, call, status by name, and what an `unimplemented` means.
[[noreturn]] void rethrow(const OpInfo& op, const char* call, const dnnl::error& error);
[[noreturn]] void throw_status(const std::string& where, const char* call, dnnl_status_t status);

// Runs `create` under the thread count; `Pd` is a primitive descriptor, `P` its primitive.
template <class P, class F>
Primitive make_primitive(const OpInfo& op, const char* call, int threads, F&& create) try {
  ThreadCount scope(threads);
  auto made = std::make_shared<Primitive::Impl>();
  made->where = op.where();
  const auto pd = create(*made);
  made->primitive = P(pd);
  made->scratch = pd.scratchpad_desc();
  made->implementation = str("oneDNN ", pd.impl_info_str());
  return Primitive(std::move(made));
} catch (const dnnl::error& error) {
  rethrow(op, call, error);
}

}  // namespace martello::onednn
