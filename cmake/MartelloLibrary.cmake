# Libraries, tests and programs. A folder's CMakeLists.txt says only what it has and what it uses.

# Headers nobody may include from outside: see CONTRIBUTING.md, "Public headers".
set(MARTELLO_PRIVATE_HEADERS "^martello/kernel/|/internal/|_isa\\.h$")

# martello_library(<folder> SRCS a.cc ...
#   [ISA_SRCS b_isa.cc ...]        compiled once per instruction-set level, with MARTELLO_ISA=v2, v3, v4
#   [DEPS base ...]                folders it uses; nothing else links
#   [LINK dnnl::dnnl ...]          external targets, private
#   [TESTS a_test.cc ...]          one binary, linked with this folder only; *_slow_test.cc go to a second one
#   [TEST_DEPS testing ...]        what the tests use besides
#   [TEST_SHARDS n]                cuts the test binary's run into n ctest entries
#   [SEPARATE])                    not part of martello::martello; a component of the installed package
function(martello_library folder)
  cmake_parse_arguments(arg "SEPARATE" "TEST_SHARDS" "SRCS;ISA_SRCS;DEPS;LINK;TESTS;TEST_DEPS" ${ARGN})
  martello_refuse_unparsed(martello_library ${folder} "${arg_UNPARSED_ARGUMENTS}")
  set(target martello_${folder})
  list(TRANSFORM arg_DEPS PREPEND martello:: OUTPUT_VARIABLE deps)

  add_library(${target} STATIC ${arg_SRCS})
  add_library(martello::${folder} ALIAS ${target})
  martello_compile_options(${target})
  target_compile_features(${target} PUBLIC cxx_std_20)
  target_link_libraries(${target} PUBLIC ${deps} PRIVATE ${arg_LINK})
  martello_isa_objects(${target} "${arg_ISA_SRCS}" "${deps}")

  file(GLOB_RECURSE headers CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR} ${CMAKE_CURRENT_SOURCE_DIR}/*.h)
  set(public_headers ${headers})
  list(FILTER public_headers EXCLUDE REGEX "${MARTELLO_PRIVATE_HEADERS}")
  list(TRANSFORM public_headers PREPEND ${PROJECT_SOURCE_DIR}/)
  target_sources(${target} PUBLIC FILE_SET HEADERS BASE_DIRS ${PROJECT_SOURCE_DIR} FILES ${public_headers})
  target_include_directories(${target} PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>)
  martello_install_library(${folder} ${arg_SEPARATE})

  set_property(GLOBAL APPEND PROPERTY MARTELLO_FOLDERS ${folder})
  list(JOIN arg_DEPS " " deps_text)
  list(JOIN arg_TEST_DEPS " " test_deps_text)
  set_property(GLOBAL APPEND PROPERTY MARTELLO_ARROWS "${folder}: ${deps_text} | ${test_deps_text}")
  if(MARTELLO_BUILD_TESTS)
    martello_header_check(${folder} "${headers}" "${arg_LINK}")
    martello_folder_tests(${folder} "${arg_TESTS}" "${arg_TEST_DEPS}" "${arg_TEST_SHARDS}")
  endif()
endfunction()

# martello_test(<name> SRCS ... [DEPS folders] [LINK targets] [LABELS ...] [SHARDS n] [SERIAL]): a GoogleTest binary.
# A test labelled `full` runs only under `./dev test --full`; a SERIAL one has the machine to itself.
function(martello_test name)
  cmake_parse_arguments(arg "SERIAL" "SHARDS" "SRCS;DEPS;LINK;LABELS" ${ARGN})
  martello_refuse_unparsed(martello_test ${name} "${arg_UNPARSED_ARGUMENTS}")
  martello_executable(${name} SRCS ${arg_SRCS} DEPS ${arg_DEPS} LINK ${arg_LINK} GTest::gtest GTest::gtest_main)
  # Half the compile time of -O2; the code under test keeps the level of its own library.
  target_compile_options(${name} PRIVATE -O1)
  if(NOT arg_SHARDS)
    set(arg_SHARDS 1)
  endif()
  foreach(shard RANGE 1 ${arg_SHARDS})
    set(entry ${name})
    if(arg_SHARDS GREATER 1)
      set(entry ${name}.${shard}of${arg_SHARDS})
    endif()
    math(EXPR index "${shard} - 1")
    add_test(NAME ${entry} COMMAND ${name})
    # Tests run side by side: a team that spins while it waits would take the neighbour's core.
    set_tests_properties(${entry} PROPERTIES
      LABELS "${arg_LABELS}" TIMEOUT 900 RUN_SERIAL $<BOOL:${arg_SERIAL}>
      ENVIRONMENT "GTEST_BRIEF=1;GTEST_TOTAL_SHARDS=${arg_SHARDS};GTEST_SHARD_INDEX=${index};OMP_WAIT_POLICY=passive")
  endforeach()
endfunction()

# martello_executable(<name> SRCS ... [DEPS folders, or martello for all] [LINK targets])
function(martello_executable name)
  cmake_parse_arguments(arg "" "" "SRCS;DEPS;LINK" ${ARGN})
  martello_refuse_unparsed(martello_executable ${name} "${arg_UNPARSED_ARGUMENTS}")
  list(TRANSFORM arg_DEPS PREPEND martello::)
  add_executable(${name} ${arg_SRCS})
  martello_compile_options(${name})
  target_link_libraries(${name} PRIVATE ${arg_DEPS} ${arg_LINK})
endfunction()

function(martello_isa_objects target sources deps)
  if(NOT sources)
    return()
  endif()
  foreach(level IN LISTS MARTELLO_ISA_LEVELS)
    add_library(${target}_${level} OBJECT ${sources})
    martello_compile_options(${target}_${level})
    martello_isa_options(${target}_${level} ${level})
    target_include_directories(${target}_${level} PRIVATE ${PROJECT_SOURCE_DIR})
    target_link_libraries(${target}_${level} PRIVATE ${deps})
    target_sources(${target} PRIVATE $<TARGET_OBJECTS:${target}_${level}>)
    set_property(GLOBAL APPEND PROPERTY MARTELLO_ISA_TARGETS ${target}_${level})
  endforeach()
endfunction()

# Every header compiles alone, and twice. Headers of instruction-set levels do so within their sources.
function(martello_header_check folder headers link)
  list(FILTER headers EXCLUDE REGEX "_isa\\.h$")
  if(NOT MARTELLO_CHECK_HEADERS OR NOT headers)
    return()
  endif()
  set(units)
  foreach(name IN LISTS headers)
    martello_begins_its_source(${name} is_checked)
    if(is_checked)
      continue()
    endif()
    set(unit ${PROJECT_BINARY_DIR}/header_check/${name}.cc)
    file(CONFIGURE OUTPUT ${unit} CONTENT "#include <${name}>\n#include <${name}>\n")
    list(APPEND units ${unit})
  endforeach()
  if(NOT units)
    return()
  endif()
  add_library(header_check_${folder} OBJECT ${units})
  martello_compile_options(header_check_${folder})
  target_compile_options(header_check_${folder} PRIVATE -O0 -g0)
  target_link_libraries(header_check_${folder} PRIVATE martello::${folder} ${link})
endfunction()

# Whether a/b.cc begins with a/b.h, and so compiles it alone.
function(martello_begins_its_source header result)
  string(REGEX REPLACE "h$" "cc" source ${PROJECT_SOURCE_DIR}/${header})
  set(first)
  if(EXISTS ${source})
    file(STRINGS ${source} first REGEX "^#include" LIMIT_COUNT 1)
  endif()
  string(COMPARE EQUAL "${first}" "#include <${header}>" begins)
  set(${result} ${begins} PARENT_SCOPE)
endfunction()

function(martello_folder_tests folder tests test_deps shards)
  set(slow_tests ${tests})
  set(helpers ${tests})
  list(FILTER helpers EXCLUDE REGEX "_test\\.cc$")  # what both binaries need
  list(FILTER slow_tests INCLUDE REGEX "_slow_test\\.cc$")
  list(FILTER tests EXCLUDE REGEX "_slow_test\\.cc$")
  if(tests)
    martello_test(${folder}_test SRCS ${tests} DEPS ${folder} ${test_deps} LABELS ${folder} SHARDS ${shards})
  endif()
  if(slow_tests)
    martello_test(${folder}_slow_test SRCS ${slow_tests} ${helpers} DEPS ${folder} ${test_deps} LABELS ${folder} full)
  endif()
endfunction()

function(martello_refuse_unparsed command name unparsed)
  if(unparsed)
    message(FATAL_ERROR "${command}(${name}): does not understand '${unparsed}'.")
  endif()
endfunction()
