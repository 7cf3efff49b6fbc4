#include <martello/martello.h>

#include <cstdio>

namespace mt = martello;

// Fails unless headers, libraries, the list of ops and their dependencies were all found where they were installed.
int main() {
  mt::GraphScope graph;
  auto x = mt::placeholder({mt::kUnknown, 2}, mt::f32, "x");
  auto y = mt::reduce_sum(mt::matmul(x, x * x, {.transpose_b = true}) + 1, "y");
  mt::Session session(mt::parse_graph(graph.graph().text()));
  const auto value = session.eval("y", {{"x", mt::HostTensor::of<float>({1, 2, 3, 4}, {2, 2})}});
  std::printf("%s = %s\n", y.name().c_str(), value.str().c_str());
  try {
    mt::Device::parse("toaster:0");
  } catch (const mt::InvalidArgument&) {
    return value.scalar<float>() == 164 ? 0 : 1;
  }
  return 1;
}
