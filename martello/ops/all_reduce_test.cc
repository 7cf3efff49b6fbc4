#include <martello/autodiff/gradients.h>
#include <martello/graph/communicator.h>
#include <martello/graph/core_ops.h>
#include <martello/graph/node.h>
#include <martello/graph/scopes.h>
#include <martello/ops/all_reduce.h>
#include <martello/runtime/session.h>
#include <martello/testing/op_test.h>

#include <gtest/gtest.h>

#include <barrier>
#include <thread>

namespace martello::testing {
namespace {

OpCase row(std::string label, HostTensor x, AllReduceKind kind) {
  return {.label = std::move(label),
          .inputs = {std::move(x)},
          .build = [=](TensorList in) { return TensorList{all_reduce(in[0], {kind})}; },
          .reference = [](const HostTensors& in) { return in; },
          .second_order = true};
}

// On one device it is the identity.
OP_TEST(all_reduce, row("sum", randn({3, 4}), AllReduceKind::sum), row("mean", randn({3, 4}), AllReduceKind::mean),
        row("scalar", randn({}), AllReduceKind::mean), row("nothing", randn({0, 3}), AllReduceKind::sum),
        row("rank 6", randn({1, 2, 1, 2, 1, 2}), AllReduceKind::mean));

// Members are threads; each sees what all of them put on the table.
struct Table {
  explicit Table(int members) : data(static_cast<size_t>(members)), meet(members) {}
  std::vector<std::vector<double>> data;
  std::barrier<> meet;
};
class ThreadMember final : public Communicator {
 public:
  ThreadMember(Table& table, size_t rank) : table_(table), rank_(rank) {}
  int size() const override { return static_cast<int>(table_.data.size()); }
  void all_reduce_sum(void* data, int64_t count, DType dtype) override {
    EXPECT_EQ(dtype, f64);
    double* x = static_cast<double*>(data);
    table_.data[rank_].assign(x, x + count);
    table_.meet.arrive_and_wait();
    for (int64_t i = 0; i < count; ++i) {
      x[i] = 0;
      for (const auto& other : table_.data) x[i] += other[static_cast<size_t>(i)];
    }
    table_.meet.arrive_and_wait();
  }

 private:
  Table& table_;
  size_t rank_;
};

HostTensor reduce_on(Communicator& member, const HostTensor& x, AllReduceKind kind) {
  HostTensor y(x.shape(), x.dtype());
  const Attrs attrs{AllReduceAttrs{kind}};
  const TensorSpec spec{.shape = x.shape(), .dtype = x.dtype()};
  KernelPlan plan{{"test", "all_reduce"}, {&spec, 1}, {&spec, 1}, &attrs};
  plan.communicator = &member;
  RunTensor in{const_cast<std::byte*>(x.raw()), x.num_elements(), x.shape()[0]};
  RunTensor out{y.mutable_raw(), y.num_elements(), y.shape()[0]};
  const KernelRun run{&in, &out};
  op_all_reduce.cpu(plan).bind(run)(run);
  return y;
}

TEST(all_reduce, sums_over_a_group) {
  for (const auto kind : {AllReduceKind::sum, AllReduceKind::mean}) {
    constexpr size_t kMembers = 3;
    Table table(kMembers);
    HostTensors x, y(kMembers);
    for (size_t i = 0; i < kMembers; ++i) x.push_back(randn({5, 2}, i + 1));
    std::vector<std::jthread> threads;
    for (size_t i = 0; i < kMembers; ++i)
      threads.emplace_back([&, i] {
        ThreadMember member(table, i);
        y[i] = reduce_on(member, x[i], kind);
      });
    threads.clear();
    for (int64_t j = 0; j < 10; ++j) {
      const double sum = x[0].at(j) + x[1].at(j) + x[2].at(j);
      for (size_t i = 0; i < kMembers; ++i)
        EXPECT_NEAR(y[i].at(j), kind == AllReduceKind::sum ? sum : sum / 3, 1e-15) << "member " << i;
    }
  }
}

TEST(all_reduce, of_one_member_is_the_identity) {
  Table table(1);
  ThreadMember member(table, 0);
  const HostTensor x = randn({4});
  EXPECT_TRUE(reduce_on(member, x, AllReduceKind::mean).same_bits(x));
  EXPECT_TRUE(table.data[0].empty());
}

TEST(all_reduce, is_its_own_gradient) {
  GraphScope scope;
  const Tensor x = placeholder({3}, f32, "x");
  const Tensor dx = gradients({all_reduce(x, {AllReduceKind::mean})}, {x})[0];
  ASSERT_EQ(dx.node()->def, &op_all_reduce);
  EXPECT_EQ(dx.node()->attrs.get<AllReduceAttrs>().kind, AllReduceKind::mean);
}

OP_REFUSES(all_reduce, integers, [] { all_reduce(placeholder({2}, i32, "x")); }, {"f32, f64", "i32"})

}  // namespace
}  // namespace martello::testing
