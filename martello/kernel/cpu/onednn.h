#pragma once
#include <martello/graph/kernel.h>

#include <memory>
#include <string>
#include <vector>

// The thin adapter over oneDNN, 2.6 and 3.x. Nothing outside onednn*.cc sees the library's headers; a family of
// primitives (convolution, pooling ...) adds a source onednn_<family>.cc over onednn_internal.h.
namespace martello::onednn {

// "oneDNN 2.6.3"
std::string version();
// The instructions that it uses here, "avx512_core_amx": the same version has other bits with others. Its environment
// variables (ONEDNN_MAX_CPU_ISA) can say less than the processor.
std::string instruction_set();
// How it multiplies in bf16 here: with AVX-512 alone, slower than in f32; by AVX512_BF16; by AMX, whose tiles do eight
// times the work of that. MARTELLO_ISA can say less, too.
enum class Bf16 : uint8_t { none, emulated, native, tiles };
Bf16 bf16_support();
inline bool has_bf16() { return bf16_support() != Bf16::none; }

// How a tensor lies in memory: made from sizes and strides, or chosen by the library ("any" until then).
class Layout {
 public:
  Layout() = default;
  // Dense, last dimension innermost.
  Layout(const std::vector<int64_t>& dims, DType dtype);
  // Strides in elements.
  Layout(const std::vector<int64_t>& dims, const std::vector<int64_t>& strides, DType dtype);
  static Layout any(const std::vector<int64_t>& dims, DType dtype);

  int64_t bytes() const;
  bool is_null() const { return impl_ == nullptr; }
  bool operator==(const Layout& other) const;
  struct Impl;
  const Impl& impl() const { return *impl_; }
  explicit Layout(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}

 private:
  std::shared_ptr<const Impl> impl_;
};

// The role of a tensor in a primitive.
enum class Role : uint8_t {
  src,
  src_1,
  weights,
  bias,
  dst,
  mean,
  variance,
  scale,
  shift,
  workspace,
  diff_src,
  diff_weights,
  diff_bias,
  diff_dst,
  diff_scale,
  diff_shift,
  scratch,
  from,
  to,
};

// A primitive ready to be bound any number of times; immutable, shared by lanes. It needs its scratch from the caller.
class Primitive {
 public:
  Primitive() = default;
  int64_t scratch_bytes() const;
  std::string implementation() const;  // "oneDNN brg:avx512_core"
  // Of the tensor in this role; null when the primitive has none.
  Layout layout(Role role) const;
  bool is_null() const { return impl_ == nullptr; }
  struct Impl;
  const Impl& impl() const { return *impl_; }
  explicit Primitive(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}

 private:
  std::shared_ptr<const Impl> impl_;
};

// A primitive with one lane's addresses. run() is one library call; set() costs nothing while the address stays.
class Call {
 public:
  Call() = default;
  // `roles` in the order in which set() counts them.
  Call(const Primitive& primitive, const std::vector<Role>& roles);
  void set(size_t i, const void* address) {
    if (addresses_[i] != address) update(i, address);
  }
  // At least Primitive::scratch_bytes() of them; not looked at when that is 0.
  void set_scratch(const void* address) {
    if (scratch_ != kNoScratch) set(scratch_, address);
  }
  void run() const;

 private:
  static constexpr size_t kNoScratch = SIZE_MAX;
  void update(size_t i, const void* address);
  struct Impl;
  size_t scratch_ = kNoScratch;
  std::shared_ptr<Impl> impl_;  // shared by copies, like what it points to
  const void** addresses_ = nullptr;
};

// Where a kernel's tensor goes: {Role::src, Side::input, 0}.
enum class Side : uint8_t { input, output };
struct Binding {
  Role role;
  Side side;
  int index;
};
// The kernel that is this one primitive: scratch booked, addresses bound per lane.
Kernel make_kernel(const Primitive& primitive, std::vector<Binding> bindings);

struct MatmulDesc {
  Layout a, b, y;    // [..., m, k], [..., k, n], [..., m, n] of one rank; a size of 1 before the last two is broadcast
  Layout bias = {};  // [1, ..., n] or null
};
// Its bias has the bits of a later addition. Its ReLU would turn NaN into 0, so there is none. Creation is tied to the
// thread count, as execution is. `op` is named in errors.
Primitive make_matmul(const OpInfo& op, const MatmulDesc& desc, int threads);

// Copies `from` into the layout `to`.
Primitive make_reorder(const OpInfo& op, const Layout& from, const Layout& to, int threads);

}  // namespace martello::onednn
