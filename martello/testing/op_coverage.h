#pragma once
#include <martello/testing/op_test.h>

#include <map>
#include <string>
#include <vector>

namespace martello::testing {

// What ops lack, one line for each op and lack ("matmul: no OP_TEST row"): a row among `tested`, a doc, a family or a
// gradient. Looks at all_ops(); empty when everything is there.
std::vector<std::string> op_coverage_gaps(const std::map<std::string, size_t>& tested = tested_ops());

}  // namespace martello::testing
