#include <martello/base/error.h>
#include <martello/data/internal/permutation.h>
#include <martello/data/internal/rows.h>
#include <martello/data/internal/stage.h>

#include <bit>

namespace martello {
namespace data::internal {
namespace {

// Bijective, and every input bit flips about half of the output bits.
uint64_t mixed(uint64_t x) {
  x = (x ^ (x >> 33)) * 0xff51afd7ed558ccdu;
  x = (x ^ (x >> 33)) * 0xc4ceb9fe1a85ec53u;
  return x ^ (x >> 33);
}

}  // namespace

Permutation::Permutation(int64_t count, uint64_t key) : count_(static_cast<uint64_t>(count)) {
  const int bits = count > 1 ? std::bit_width(count_ - 1) : 0, left_bits = bits / 2;
  right_bits_ = bits - left_bits;
  left_mask_ = (uint64_t{1} << left_bits) - 1;
  right_mask_ = (uint64_t{1} << right_bits_) - 1;
  Rng rng(key);
  for (uint64_t& k : keys_) k = rng.bits();
}

int64_t Permutation::operator()(int64_t index) const {
  auto x = static_cast<uint64_t>(index);
  do {
    uint64_t left = x >> right_bits_, right = x & right_mask_;
    for (int round = 0; round < kRounds; round += 2) {
      left ^= mixed(right ^ keys_[static_cast<size_t>(round)]) & left_mask_;
      right ^= mixed(left ^ keys_[static_cast<size_t>(round) + 1]) & right_mask_;
    }
    x = (left << right_bits_) | right;
  } while (x >= count_);
  return static_cast<int64_t>(x);
}

namespace {

class ShuffledAccess final : public RowAccess {
 public:
  ShuffledAccess(std::shared_ptr<RandomAccess> source, uint64_t key)
      : source_(std::move(source)),
        source_rows_(dynamic_cast<const RowAccess*>(source_.get())),
        permutation_(source_->count(), key) {}
  int64_t count() const override { return source_->count(); }
  bool may_drop() const override { return source_->may_drop(); }
  std::optional<Datapoint> get(int64_t index) override { return source_->get(permutation_(index)); }
  const RowFlow* rows() const override { return source_rows_ ? source_rows_->rows() : nullptr; }
  int64_t row_of(int64_t index) const override { return source_rows_->row_of(permutation_(index)); }
  void state(State& s) override { s("source", *source_); }

 private:
  std::shared_ptr<RandomAccess> source_;
  const RowAccess* source_rows_;  // null: it has none
  Permutation permutation_;
};

}  // namespace
}  // namespace data::internal

using namespace data::internal;

DataFlowRef DataFlowRef::shuffle(SourceLine line) const {
  const DataFlowRef source = checked_source(*this, "shuffle", line);
  const std::string stage = stage_text("shuffle", line);
  const auto open = [=](const Pass& pass) -> std::shared_ptr<RandomAccess> {
    auto access = source->random_access(pass.below());
    MARTELLO_CHECK(
        access, "[", stage, "] needs random access, which ", source.description(),
        " does not have. Shuffle nearer to an indexed source, after cache(), or use shuffle_locally(buffer).");
    return std::make_shared<ShuffledAccess>(std::move(access), pass.key());
  };
  return make_flow({.type = "shuffle",
                    .sources = {source},
                    .size = source.size(),
                    .iterate = [=](const Pass& pass) { return std::make_unique<IndexedIterator>(stage, open(pass)); },
                    .random_access = open});
}

}  // namespace martello
