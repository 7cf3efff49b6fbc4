#include <martello/models/linear_wrap.h>

#include <martello/base/log.h>

namespace martello {

LinearWrap& LinearWrap::print_tensor() {
  logger::info("'", x_.name(), "': ", x_.dtype(), x_.shape());
  return *this;
}

}  // namespace martello
