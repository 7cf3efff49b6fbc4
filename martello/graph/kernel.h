#pragma once
#include <martello/base/strings.h>
#include <martello/graph/attrs.h>
#include <martello/tensor/device.h>
#include <martello/tensor/tensor_spec.h>

#include <functional>
#include <span>
#include <string>

// What a kernel is. Three phases:
//   plan   KernelFn(const KernelPlan&): sees shapes, dtypes and attributes; picks the algorithm, books scratch, chooses
//          threads. Its result, a Kernel, is immutable and shared by all lanes.
//   bind   Kernel::bind(run): once per lane, with the lane's addresses; makes what a lane must own (library objects).
//   run    the bound function, every step; allocates nothing.
// A simple kernel is a lambda over KernelRun and has nothing to bind.
namespace martello {

class Subgraph;
class Communicator;

// The node a context speaks of.
struct OpInfo {
  std::string_view name;
  const char* type = "";

  std::string where() const { return str("[", type, " '", name, "'] "); }  // "[softmax 'prob'] "
};

// A tensor as a kernel sees it at run time. `rows` is the size of dimension 0, which may be smaller than planned when
// it depends on data; `count` is the number of elements that follows from it.
struct RunTensor {
  void* data = nullptr;
  int64_t count = 0;
  int64_t rows = 0;
};

// What changes from run to run, at a fixed address per lane.
struct RunParams {
  int64_t run = 0;           // number of this run in its stream
  int64_t first_sample = 0;  // global index of the first sample of this device's batch
  int32_t stream = 0;        // random stream: 0 hooked runs, 1 plain runs
  int32_t is_bad = 0;        // set by a kernel that saw a non-finite value: the update phase is skipped
};

struct KernelRun {
  RunTensor* in_ = nullptr;
  RunTensor* out_ = nullptr;
  std::byte* scratch = nullptr;
  RunParams* params = nullptr;
  int threads = 1;

  template <Element T>
  std::span<const T> in(int i) const {
    return {static_cast<const T*>(in_[i].data), static_cast<size_t>(in_[i].count)};
  }
  template <Element T>
  std::span<T> out(int i) const {
    return {static_cast<T*>(out_[i].data), static_cast<size_t>(out_[i].count)};
  }
  // The variable behind input i of a write op.
  template <Element T>
  std::span<T> target(int i) const {
    return {static_cast<T*>(in_[i].data), static_cast<size_t>(in_[i].count)};
  }
  // Run-time size of dimension 0.
  int64_t in_rows(int i) const { return in_[i].rows; }
  int64_t out_rows(int i) const { return out_[i].rows; }
  void set_out_rows(int i, int64_t rows) const { out_[i].rows = rows; }
};

using BoundKernel = std::function<void(const KernelRun&)>;

class Kernel {
 public:
  using Bind = std::function<BoundKernel(const KernelRun&)>;

  Kernel() = default;
  // Nothing to bind: one function for all lanes.
  template <class F>
  requires std::invocable<const F&, const KernelRun&> Kernel(F run) : run_(std::move(run)) {}
  // With state of its own per lane.
  static Kernel with_bind(Bind bind) {
    Kernel k;
    k.bind_ = std::move(bind);
    return k;
  }
  Kernel& scratch(int64_t bytes) { return scratch_bytes_ = bytes, *this; }
  Kernel& implementation(std::string name) { return implementation_ = std::move(name), *this; }

  BoundKernel bind(const KernelRun& addresses) const { return bind_ ? bind_(addresses) : run_; }
  bool is_null() const { return !run_ && !bind_; }
  int64_t scratch_bytes() const { return scratch_bytes_; }
  const std::string& implementation() const { return implementation_; }

 private:
  BoundKernel run_;
  Bind bind_;
  int64_t scratch_bytes_ = 0;
  std::string implementation_ = "own";
};

// Plans the bodies of ops with subgraphs (cond, scan); implemented by the runtime.
class SubgraphPlanner {
 public:
  virtual ~SubgraphPlanner() = default;
  // The body as a kernel: its inputs are the body's arguments, its outputs the body's results. Its arena is scratch.
  virtual Kernel plan(const Subgraph& body, std::span<const TensorSpec> in, int threads) = 0;
};

struct KernelPlan {
  OpInfo op;
  std::span<const TensorSpec> in, out;  // every dimension known
  const Attrs* attributes = nullptr;
  int threads = 1;  // the most this kernel may use
  Device device = {};
  SubgraphPlanner* subgraphs = nullptr;
  Communicator* communicator = nullptr;  // the group this device belongs to; null outside collectives

  template <class A>
  const A& attrs() const {
    return attributes->get<A>();
  }
};
using KernelFn = Kernel (*)(const KernelPlan&);

}  // namespace martello
