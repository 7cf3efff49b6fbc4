#include "wrong.h"

namespace martello::testing {
namespace {

const WrongPrograms programs(
    __FILE__,
    {
        {"an_unknown_op",
         [](Line&) { parse_graph("martello graph 1\n%x = placeholder() {shape=[2], dtype=f32}\n%y = rleu(%x)\n"); },
         {"[parse_graph]", "line 3", "\"rleu\"", "Did you mean 'relu'", "register_op()"}},
        {"an_input_that_is_not_there",
         [](Line&) { parse_graph("martello graph 1\n%x = placeholder() {shape=[2], dtype=f32}\n%y = relu(%xx)\n"); },
         {"[parse_graph]", "line 3", "%xx", "Did you mean 'x'"}},
        {"a_node_defined_twice",
         [](Line&) {
           parse_graph("martello graph 1\n%x = placeholder() {shape=[2], dtype=f32}\n%x = placeholder() {shape=[2], dtype=f32}\n");
         },
         {"[parse_graph]", "line 3", "%x", "twice"}},
        {"an_output_that_is_not_there",
         [](Line&) { parse_graph("martello graph 1\n%x = placeholder() {shape=[2], dtype=f32}\n%y = relu(%x:1)\n"); },
         {"[parse_graph]", "line 3", "%x:1", "1 outputs"}},
        {"shapes_that_do_not_fit",
         [](Line&) {
           parse_graph("martello graph 1\n%a = placeholder() {shape=[2], dtype=f32}\n%b = placeholder() {shape=[3], dtype=f32}\n%y = add(%a, %b)\n");
         },
         {"[add 'y']", "line 4", "[2]", "[3]"}},
        {"a_declared_shape_that_is_not_true",
         [](Line&) { parse_graph("martello graph 1\n%a = placeholder() {shape=[2], dtype=f32} : f32[3]\n"); },
         {"[parse_graph]", "line 2", "f32[2]", "f32[3]"}},
        {"an_attribute_that_is_not_there",
         [](Line&) { parse_graph("martello graph 1\n%a = placeholder() {shape=[2], dtpye=f32}\n"); },
         {"[parse_graph]", "line 2", "dtpye", "Did you mean 'dtype'"}},
        {"a_dtype_that_is_not_there",
         [](Line&) { parse_graph("martello graph 1\n%a = placeholder() {shape=[2], dtype=f33}\n"); },
         {"[parse_graph]", "line 2", "f33"}},
        {"a_size_that_does_not_fit",
         [](Line&) { parse_graph("martello graph 1\n%a = placeholder() {shape=[99999999999999999999], dtype=f32}\n"); },
         {"[parse_graph]", "line 2", "99999999999999999999"}},
        {"a_node_that_needs_itself",
         [](Line&) { parse_graph("martello graph 1\n%a = relu(%b)\n%b = relu(%a)\n"); },
         {"[parse_graph]", "needs its own output"}},
        {"a_cycle_of_controls",
         [](Line&) {
           parse_graph("martello graph 1\n%x = placeholder() {shape=[2], dtype=f32}\n%a = relu(%x) after(%b)\n%b = relu(%a)\n");
         },
         {"[relu 'a']", "cycle", "'a', 'b'"}},
        {"a_text_of_another_version",
         [](Line&) { parse_graph("martello graph 7\n"); },
         {"[parse_graph]", "line 1", "version 7", "version 1"}},
        {"a_text_that_is_no_graph", [](Line&) { parse_graph("{\"nodes\": []}"); }, {"[parse_graph]", "line 1", "expected a node"}},
        {"a_text_that_ends_too_soon",
         [](Line&) { parse_graph("martello graph 1\n%x = placeholder() {shape=[2], dtype="); },
         {"[parse_graph]", "line 2", "the end of the text"}},
        {"a_quote_that_is_not_closed",
         [](Line&) { parse_graph("martello graph 1\n%x = placeholder() {shape=[2], dtype=f32} on(\"cpu:0)\n"); },
         {"[parse_graph]", "line 2", "no closing quote"}},
        {"a_device_that_does_not_exist",
         [](Line&) { parse_graph("martello graph 1\n%x = placeholder() {shape=[2], dtype=f32} on(\"tpu:0\")\n"); },
         {"line 2", "tpu:0"}},
        {"another_number_of_inputs",
         [](Line&) { parse_graph("martello graph 1\n%x = placeholder() {shape=[2], dtype=f32}\n%y = add(%x)\n"); },
         {"[add 'y']", "line 3", "2 inputs", "1"}},
    });

}  // namespace
}  // namespace martello::testing
