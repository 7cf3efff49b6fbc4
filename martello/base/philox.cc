#include <martello/base/philox.h>

namespace martello {
namespace {

// Bijective, and every input bit flips about half of the output bits.
constexpr uint64_t mixed(uint64_t x) {
  x = (x ^ (x >> 33)) * 0xff51afd7ed558ccdu;
  x = (x ^ (x >> 33)) * 0xc4ceb9fe1a85ec53u;
  return x ^ (x >> 33);
}

}  // namespace

uint64_t stable_hash(std::string_view text, uint64_t seed) {
  // The seed is mixed before it meets the text: merely xored in, seeds 0 and 3 would swap "a" and "b".
  uint64_t hash = mixed(seed ^ 0xcbf29ce484222325u);
  for (char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return mixed(hash);
}

}  // namespace martello
