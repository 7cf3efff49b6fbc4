#include <martello/data/internal/test_flow.h>

namespace martello::data::internal {
namespace {

void check_ends(const DataFlowRef& flow, const Pass& pass, const List& all) {
  const auto iterator = flow->iterate(pass);
  EXPECT_TRUE(same(read(*iterator), all)) << "read again";
  for (int i = 0; i < 3; ++i) EXPECT_FALSE(iterator->next()) << "an end that does not stay";
  const auto restored = flow->iterate(pass);
  restore_state(*restored, save_state(*iterator));
  EXPECT_FALSE(restored->next()) << "an end that does not stay when it is restored";
  EXPECT_EQ(flow.size().value_or(static_cast<int64_t>(all.size())), static_cast<int64_t>(all.size())) << "size()";
}

void check_positions(const DataFlowRef& flow, const Pass& pass, const List& all) {
  const auto iterator = flow->iterate(pass), elsewhere = flow->iterate(pass);
  read(*elsewhere, all.size() / 2);
  for (size_t at = 0; at <= all.size(); ++at) {
    const std::string position = save_state(*iterator);
    EXPECT_EQ(save_state(*iterator), position) << "saved twice at " << at;
    const auto restored = flow->iterate(pass);
    restore_state(*restored, position);
    const auto again = flow->iterate(pass);
    restore_state(*again, save_state(*restored));
    EXPECT_TRUE(same(read(*again, 2), from(all, at, 2))) << "saved after it was restored at " << at;
    const size_t most = at % 5 == 0 ? all.size() + 1 : 3;
    EXPECT_TRUE(same(read(*restored, most), from(all, at, most))) << "restored at " << at;
    if (at % 3 == 0) {
      restore_state(*elsewhere, position);
      EXPECT_TRUE(same(read(*elsewhere, 4), from(all, at, 4))) << "restored on a used iterator at " << at;
    }
    const std::optional<Datapoint> dp = iterator->next();
    const List given = dp ? List{*dp} : List();
    EXPECT_TRUE(same(given, from(all, at, 1))) << "disturbed by saving at " << at;
  }
}

void check_skips(const DataFlowRef& flow, const Pass& pass, const List& all) {
  for (size_t first : {size_t{0}, size_t{1}, all.size() / 2, all.size(), all.size() + 3}) {
    const auto iterator = flow->iterate(pass);
    iterator->skip(static_cast<int64_t>(first));
    EXPECT_TRUE(same(read(*iterator, 2), from(all, first, 2))) << "skip(" << first << ")";
    iterator->skip(3);
    EXPECT_TRUE(same(read(*iterator), from(all, first + 5))) << "skip(3) at " << first + 2;
  }
}

void check_tokens(const DataFlowRef& flow, const Pass& pass, const List& all) {
  TokenIterator iterator(flow, pass), other(flow, pass);
  for (size_t at = 0; at < all.size(); ++at) {
    std::optional<Item> item = iterator.next();
    ASSERT_TRUE(item);
    if (at % 4 != 0) continue;
    Token token;
    restore_state(token, save_state(item->token));
    other.restore(token);
    for (size_t i = at + 1; i < std::min(at + 4, all.size()); ++i) {
      const std::optional<Item> next = other.next();
      ASSERT_TRUE(next);
      EXPECT_TRUE(next->datapoint.same_bits(all[i])) << "token of " << at << ", datapoint " << i;
    }
  }
}

}  // namespace

void check_flow(const DataFlowRef& flow, const Pass& pass) {
  SCOPED_TRACE(flow.description());
  const Silence silence;
  const List all = all_of(flow, pass);
  check_ends(flow, pass, all);
  check_positions(flow, pass, all);
  check_skips(flow, pass, all);
  check_tokens(flow, pass, all);
}

}  // namespace martello::data::internal
