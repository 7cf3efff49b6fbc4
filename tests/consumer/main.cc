#include <martello/martello.h>

#include <cstdio>

namespace mt = martello;

// Fails unless headers, libraries and their dependencies were all found where they were installed.
int main() {
  const auto x = mt::HostTensor::of<float>({1, 2, 3, 4}, {2, 2});
  std::printf("%s\n", x.str().c_str());
  try {
    mt::Device::parse("toaster:0");
  } catch (const mt::InvalidArgument&) {
    return x.num_elements() == 4 ? 0 : 1;
  }
  return 1;
}
