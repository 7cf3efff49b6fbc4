#include <martello/base/checked.h>
#include <martello/data/pass.h>

namespace martello {
namespace {

uint64_t mixed(uint64_t a, uint64_t b) {
  const auto block = Philox::block({static_cast<uint32_t>(a), static_cast<uint32_t>(a >> 32), static_cast<uint32_t>(b),
                                    static_cast<uint32_t>(b >> 32)},
                                   {0x64617461, 0x70617373});
  return (uint64_t{block[1]} << 32) | block[0];
}

}  // namespace

uint64_t Pass::key() const { return mixed(mixed(seed, stage), static_cast<uint64_t>(number)); }

Pass Pass::below(uint64_t branch) const {
  Pass source = *this;
  source.stage = mixed(stage, branch + 1);
  return source;
}

Pass Pass::with_number(int64_t data_pass) const {
  Pass other = *this;
  other.number = data_pass;
  return other;
}

Pass Pass::with_interrupt(std::shared_ptr<Interrupt> other_interrupt) const {
  Pass other = *this;
  other.interrupt = std::move(other_interrupt);
  return other;
}

Pass Pass::repetition(int64_t i, int64_t times) const {
  if (times > 0) return with_number(checked_add(checked_mul(number, times), i));
  Pass other = with_number(i);
  if (number != 0) other.seed = mixed(seed, static_cast<uint64_t>(number));
  return other;
}

}  // namespace martello
