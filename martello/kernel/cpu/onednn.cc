#include <martello/kernel/cpu/isa.h>
#include <martello/kernel/cpu/onednn_internal.h>
#include <martello/kernel/library_time.h>

#include <dnnl_debug.h>

#include <algorithm>

namespace martello::onednn {

std::string version() {
  const dnnl_version_t* v = dnnl_version();
  return str("oneDNN ", v->major, ".", v->minor, ".", v->patch);
}

std::string instruction_set() {
  constexpr std::string_view kPrefix = "cpu_isa_";
  const std::string name = dnnl_cpu_isa2str(static_cast<dnnl_cpu_isa_t>(dnnl::get_effective_cpu_isa()));
  return name.starts_with(kPrefix) ? name.substr(kPrefix.size()) : name;
}

Bf16 bf16_support() {
  // Levels are sets of bits: a higher one has those of the lower.
  const auto has = [](dnnl::cpu_isa level) {
    const auto needed = static_cast<unsigned>(level);
    return (static_cast<unsigned>(dnnl::get_effective_cpu_isa()) & needed) == needed;
  };
  if (cpu::host_isa() != cpu::Isa::v4 || !has(dnnl::cpu_isa::avx512_core)) return Bf16::none;
  if (!has(dnnl::cpu_isa::avx512_core_bf16)) return Bf16::emulated;
  return has(dnnl::cpu_isa::avx512_core_amx) ? Bf16::tiles : Bf16::native;
}

const dnnl::engine& engine() {
  static const dnnl::engine* e = new dnnl::engine(dnnl::engine::kind::cpu, 0);
  return *e;
}

namespace {

// A CPU stream has no state: one serves all threads.
const dnnl::stream& stream() {
  static const dnnl::stream* s = new dnnl::stream(engine());
  return *s;
}

constexpr int kArguments[] = {
    DNNL_ARG_SRC,        DNNL_ARG_SRC_1,        DNNL_ARG_WEIGHTS,   DNNL_ARG_BIAS,     DNNL_ARG_DST,
    DNNL_ARG_MEAN,       DNNL_ARG_VARIANCE,     DNNL_ARG_SCALE,     DNNL_ARG_SHIFT,    DNNL_ARG_WORKSPACE,
    DNNL_ARG_DIFF_SRC,   DNNL_ARG_DIFF_WEIGHTS, DNNL_ARG_DIFF_BIAS, DNNL_ARG_DIFF_DST, DNNL_ARG_DIFF_SCALE,
    DNNL_ARG_DIFF_SHIFT, DNNL_ARG_SCRATCHPAD,   DNNL_ARG_FROM,      DNNL_ARG_TO,
};

const char* status_name(dnnl_status_t status) {
  switch (status) {
    case dnnl_success: return "success";
    case dnnl_out_of_memory: return "out_of_memory";
    case dnnl_invalid_arguments: return "invalid_arguments";
    case dnnl_unimplemented: return "unimplemented";
    case dnnl_runtime_error: return "runtime_error";
    default: return "another status";
  }
}

std::vector<int64_t> dense_strides(const std::vector<int64_t>& dims) {
  std::vector<int64_t> strides(dims.size(), 1);
  for (size_t i = dims.size(); i-- > 1;) strides[i - 1] = strides[i] * std::max<int64_t>(dims[i], 1);
  return strides;
}

// The adapter's layouts have no node to name: a refusal here is a bug of the kernel that asked.
template <class... A>
Layout new_layout(A&&... a) try {
  return make_layout(dnnl::memory::desc(std::forward<A>(a)...));
} catch (const dnnl::error& error) {
  throw_status("[onednn] ", "memory descriptor", error.status);
}

}  // namespace

int argument(Role role) { return kArguments[static_cast<size_t>(role)]; }

dnnl::memory::data_type data_type(DType dtype) {
  using Type = dnnl::memory::data_type;
  switch (dtype) {
    case DType::f32: return Type::f32;
    case DType::bf16: return Type::bf16;
    case DType::f16: return Type::f16;
    case DType::i32: return Type::s32;
    case DType::u8:
    case DType::boolean: return Type::u8;
    default: break;
  }
  MARTELLO_ASSERT(false, version(), " has no kernels for ", dtype, "; the caller must not ask for them.");
  return Type::undef;
}

dnnl::primitive_attr attributes() {
  dnnl::primitive_attr attr;
  attr.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  return attr;
}

void throw_status(const std::string& where, const char* call, dnnl_status_t status) {
  const char* meaning = status == dnnl_unimplemented
                            ? " The library has no implementation for this combination of shapes, dtypes and layouts; "
                              "ONEDNN_VERBOSE=all (3.x) or DNNL_VERBOSE=2 (2.x) shows what it tried."
                            : "";
  throw InternalError(str(where, version(), ": ", call, " gave status ", status_name(status), " (",
                          static_cast<int>(status), ").", meaning, " Please report this."));
}

void rethrow(const OpInfo& op, const char* call, const dnnl::error& error) {
  throw_status(op.where(), call, error.status);
}

Layout make_layout(const dnnl::memory::desc& desc) {
  return Layout(std::make_shared<const Layout::Impl>(Layout::Impl{desc}));
}

Layout::Layout(const std::vector<int64_t>& dims, DType dtype) : Layout(dims, dense_strides(dims), dtype) {}
Layout::Layout(const std::vector<int64_t>& dims, const std::vector<int64_t>& strides, DType dtype)
    : Layout(new_layout(dims, data_type(dtype), strides)) {}
Layout Layout::any(const std::vector<int64_t>& dims, DType dtype) {
  return new_layout(dims, data_type(dtype), dnnl::memory::format_tag::any);
}
int64_t Layout::bytes() const { return static_cast<int64_t>(impl_->desc.get_size()); }
bool Layout::operator==(const Layout& other) const {
  if (!impl_ || !other.impl_) return impl_ == other.impl_;
  return impl_->desc == other.impl_->desc;
}

int64_t Primitive::scratch_bytes() const { return static_cast<int64_t>(impl_->scratch.get_size()); }
std::string Primitive::implementation() const { return impl_->implementation; }
Layout Primitive::layout(Role role) const {
  for (const auto& [r, desc] : impl_->descs)
    if (r == role) return make_layout(desc);
  return Layout();
}

struct Call::Impl {
  Primitive primitive;
  std::vector<dnnl::memory> memories;
  std::vector<const void*> addresses;
  std::vector<dnnl_exec_arg_t> arguments;
};

Call::Call(const Primitive& primitive, const std::vector<Role>& roles) : impl_(std::make_shared<Impl>()) {
  impl_->primitive = primitive;
  const auto add = [&](Role role, const dnnl::memory::desc& desc) {
    impl_->memories.emplace_back(desc, engine(), static_cast<void*>(DNNL_MEMORY_NONE));
    impl_->arguments.push_back({argument(role), impl_->memories.back().get()});
  };
  for (Role role : roles) {
    const Layout layout = primitive.layout(role);
    MARTELLO_ASSERT(!layout.is_null(), primitive.impl().where, "the primitive has no tensor in role ",
                    static_cast<int>(role), ".");
    add(role, desc_of(layout));
  }
  if (primitive.scratch_bytes() > 0) {
    scratch_ = roles.size();
    add(Role::scratch, primitive.impl().scratch);
  }
  impl_->addresses.resize(impl_->memories.size());
  addresses_ = impl_->addresses.data();
}

void Call::update(size_t i, const void* address) {
  const dnnl_status_t status = dnnl_memory_set_data_handle(impl_->memories[i].get(), const_cast<void*>(address));
  if (status != dnnl_success) throw_status(impl_->primitive.impl().where, "dnnl_memory_set_data_handle", status);
  addresses_[i] = address;
}

void Call::run() const {
  const LibraryTime::Call timed;
  const dnnl_status_t status =
      dnnl_primitive_execute(impl_->primitive.impl().primitive.get(), stream().get(),
                             static_cast<int>(impl_->arguments.size()), impl_->arguments.data());
  if (status != dnnl_success) throw_status(impl_->primitive.impl().where, "dnnl_primitive_execute", status);
}

namespace {

void* address(const KernelRun& run, const Binding& b) {
  return (b.side == Side::input ? run.in_ : run.out_)[b.index].data;
}

}  // namespace

Kernel make_kernel(const Primitive& primitive, std::vector<Binding> bindings) {
  const auto bind = [primitive, bindings](const KernelRun&) -> BoundKernel {
    std::vector<Role> roles;
    for (const Binding& b : bindings) roles.push_back(b.role);
    return [bindings, call = Call(primitive, roles)](const KernelRun& run) mutable {
      for (size_t i = 0; i < bindings.size(); ++i) call.set(i, address(run, bindings[i]));
      call.set_scratch(run.scratch);
      call.run();
    };
  };
  return Kernel::with_bind(bind).scratch(primitive.scratch_bytes()).implementation(primitive.implementation());
}

}  // namespace martello::onednn
