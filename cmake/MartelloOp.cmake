# martello_op(<stem> [OPS names...] [CPU] [ISA]): the one build line of an op, or of a table of ops.
#   <stem>.cc       always: the definitions op_<name> of OPS (default: the stem)
#   <stem>_cpu.cc   with CPU: kernels
#   <stem>_isa.cc   with ISA: loops, compiled once per instruction-set level
#   <stem>_test.cc  when it exists
# The lines come before martello_ops_library().
function(martello_op stem)
  cmake_parse_arguments(arg "CPU;ISA" "" "OPS" ${ARGN})
  martello_refuse_unparsed(martello_op ${stem} "${arg_UNPARSED_ARGUMENTS}")
  if(NOT arg_OPS)
    set(arg_OPS ${stem})
  endif()
  get_property(known GLOBAL PROPERTY MARTELLO_OPS)
  foreach(op IN LISTS arg_OPS)
    if(op IN_LIST known)
      message(FATAL_ERROR "martello_op(${stem}): op '${op}' is listed twice.")
    endif()
    list(APPEND known ${op})
  endforeach()
  set_property(GLOBAL PROPERTY MARTELLO_OPS ${known})

  set_property(GLOBAL APPEND PROPERTY MARTELLO_OP_STEMS ${stem})
  set_property(GLOBAL APPEND PROPERTY MARTELLO_OP_SRCS ${stem}.cc)
  if(arg_CPU)
    set_property(GLOBAL APPEND PROPERTY MARTELLO_OP_SRCS ${stem}_cpu.cc)
  endif()
  if(arg_ISA)
    set_property(GLOBAL APPEND PROPERTY MARTELLO_OP_ISA_SRCS ${stem}_isa.cc)
  endif()
endfunction()

# martello_ops_library(SRCS registry.cc ... [ISA_SRCS ...] [TESTS ...] and the rest of martello_library):
# the library of all ops listed so far. Writes op_list.inc with a line MARTELLO_OP(name) for each;
# registry.cc includes it as <martello/ops/op_list.inc>.
function(martello_ops_library)
  cmake_parse_arguments(arg "" "TEST_SHARDS" "SRCS;ISA_SRCS;DEPS;LINK;TESTS;TEST_DEPS" ${ARGN})
  martello_refuse_unparsed(martello_ops_library ops "${arg_UNPARSED_ARGUMENTS}")
  foreach(name OPS OP_STEMS OP_SRCS OP_ISA_SRCS)
    get_property(${name} GLOBAL PROPERTY MARTELLO_${name})
  endforeach()

  list(TRANSFORM OPS REPLACE "(.+)" "MARTELLO_OP(\\1)\n")
  string(JOIN "" rows ${OPS})
  file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/generated/martello/ops/op_list.inc CONTENT "${rows}")

  martello_op_tests("${OP_STEMS}" "${arg_TESTS}" tests)
  martello_library(ops SRCS ${arg_SRCS} ${OP_SRCS} ISA_SRCS ${arg_ISA_SRCS} ${OP_ISA_SRCS} DEPS ${arg_DEPS}
                   LINK ${arg_LINK} TESTS ${tests} TEST_DEPS ${arg_TEST_DEPS} TEST_SHARDS ${arg_TEST_SHARDS})
  target_include_directories(martello_ops PRIVATE ${PROJECT_BINARY_DIR}/generated)
endfunction()

# A test belongs to a stem or to `listed`; one that belongs to neither would never run, so it is refused.
function(martello_op_tests stems listed result)
  file(GLOB tests CONFIGURE_DEPENDS RELATIVE ${CMAKE_CURRENT_SOURCE_DIR} *_test.cc)
  foreach(test IN LISTS tests)
    string(REGEX REPLACE "(_slow)?_test\\.cc$" "" stem ${test})
    if(NOT stem IN_LIST stems AND NOT test IN_LIST listed)
      message(FATAL_ERROR "martello/ops/${test} has no martello_op(${stem}) line and is not listed in TESTS.")
    endif()
  endforeach()
  list(APPEND tests ${listed})
  list(REMOVE_DUPLICATES tests)
  set(${result} ${tests} PARENT_SCOPE)
endfunction()
