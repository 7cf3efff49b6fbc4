#include "wrong.h"

namespace martello::testing {
namespace {

WRONG_PROGRAM(an_unknown_op, "[parse_graph]", "line 3", "\"rleu\"", "Did you mean 'relu'", "register_op()") {
  parse_graph("martello graph 1\n%x = placeholder() {shape=[2], dtype=f32}\n%y = rleu(%x)\n");
}

WRONG_PROGRAM(an_input_that_is_not_there, "[parse_graph]", "line 3", "%imge", "Did you mean 'image'") {
  parse_graph("martello graph 1\n%image = placeholder() {shape=[2], dtype=f32}\n%y = relu(%imge)\n");
}

WRONG_PROGRAM(a_node_defined_twice, "[parse_graph]", "line 3", "%x", "twice") {
  parse_graph(
      "martello graph 1\n%x = placeholder() {shape=[2], dtype=f32}\n%x = placeholder() {shape=[2], "
      "dtype=f32}\n");
}

WRONG_PROGRAM(an_output_that_is_not_there, "[parse_graph]", "line 3", "%x:1", "1 outputs") {
  parse_graph("martello graph 1\n%x = placeholder() {shape=[2], dtype=f32}\n%y = relu(%x:1)\n");
}

WRONG_PROGRAM(shapes_that_do_not_fit, "[add 'y']", "line 4", "[2]", "[3]") {
  parse_graph(
      "martello graph 1\n%a = placeholder() {shape=[2], dtype=f32}\n%b = placeholder() {shape=[3], "
      "dtype=f32}\n%y = add(%a, %b)\n");
}

WRONG_PROGRAM(a_declared_shape_that_is_not_true, "[parse_graph]", "line 2", "f32[2]", "f32[3]") {
  parse_graph("martello graph 1\n%a = placeholder() {shape=[2], dtype=f32} : f32[3]\n");
}

WRONG_PROGRAM(an_attribute_that_is_not_there, "[parse_graph]", "line 2", "dtpye", "Did you mean 'dtype'") {
  parse_graph("martello graph 1\n%a = placeholder() {shape=[2], dtpye=f32}\n");
}

WRONG_PROGRAM(a_dtype_that_is_not_there, "[parse_graph]", "line 2", "f33") {
  parse_graph("martello graph 1\n%a = placeholder() {shape=[2], dtype=f33}\n");
}

WRONG_PROGRAM(a_size_that_does_not_fit, "[parse_graph]", "line 2", "99999999999999999999") {
  parse_graph("martello graph 1\n%a = placeholder() {shape=[99999999999999999999], dtype=f32}\n");
}

WRONG_PROGRAM(a_node_that_needs_itself, "[parse_graph]", "needs its own output") {
  parse_graph("martello graph 1\n%a = relu(%b)\n%b = relu(%a)\n");
}

WRONG_PROGRAM(a_cycle_of_controls, "[relu 'a']", "cycle", "'a', 'b'") {
  parse_graph("martello graph 1\n%x = placeholder() {shape=[2], dtype=f32}\n%a = relu(%x) after(%b)\n%b = relu(%a)\n");
}

WRONG_PROGRAM(a_text_of_another_version, "[parse_graph]", "line 1", "version 7", "version 1") {
  parse_graph("martello graph 7\n");
}

WRONG_PROGRAM(a_text_that_is_no_graph, "[parse_graph]", "line 1", "expected a node") { parse_graph("{\"nodes\": []}"); }

WRONG_PROGRAM(a_text_that_ends_too_soon, "[parse_graph]", "line 2", "the end of the text") {
  parse_graph("martello graph 1\n%x = placeholder() {shape=[2], dtype=");
}

WRONG_PROGRAM(a_quote_that_is_not_closed, "[parse_graph]", "line 2", "no closing quote") {
  parse_graph("martello graph 1\n%x = placeholder() {shape=[2], dtype=f32} on(\"cpu:0)\n");
}

WRONG_PROGRAM(a_device_that_does_not_exist, "line 2", "tpu:0") {
  parse_graph("martello graph 1\n%x = placeholder() {shape=[2], dtype=f32} on(\"tpu:0\")\n");
}

WRONG_PROGRAM(another_number_of_inputs, "[add 'y']", "line 3", "2 inputs", "1") {
  parse_graph("martello graph 1\n%x = placeholder() {shape=[2], dtype=f32}\n%y = add(%x)\n");
}

}  // namespace
}  // namespace martello::testing
