#include <martello/base/strings.h>
#include <martello/tensor/tensor_spec.h>

namespace martello {

std::string TensorSpec::str() const { return martello::str(dtype, shape); }

}  // namespace martello
