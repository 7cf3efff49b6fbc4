#pragma once
#include <martello/base/ref.h>
#include <martello/input/input_source.h>

#include <string>

namespace martello {

// A source that gives only the inputs `names` of the signature, in the order of `names`. The others become
// placeholders, which callbacks feed in before_run.
Ref<InputSource> remap_input_source(Ref<InputSource> input, std::vector<std::string> names);

}  // namespace martello
