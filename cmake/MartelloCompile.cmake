# How every source of the project is compiled.

if(NOT CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64)$")
  message(FATAL_ERROR "Martello's kernels are compiled for x86-64; this is ${CMAKE_SYSTEM_PROCESSOR}.")
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 12)
  message(FATAL_ERROR "Martello needs GCC 12 or newer, found ${CMAKE_CXX_COMPILER_VERSION}. Set CMAKE_CXX_COMPILER.")
elseif(CMAKE_CXX_COMPILER_ID STREQUAL "Clang" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 14)
  message(FATAL_ERROR "Martello needs Clang 14 or newer, found ${CMAKE_CXX_COMPILER_VERSION}. Set CMAKE_CXX_COMPILER.")
endif()

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Debug, Release, RelWithDebInfo or MinSizeRel." FORCE)
endif()
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

find_program(MARTELLO_CCACHE ccache DOC "ccache, used as compiler launcher when found.")
if(MARTELLO_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${MARTELLO_CCACHE})
endif()

# Contraction is off everywhere: whether a * b + c is one rounding or two must not depend on compiler or level.
function(martello_compile_options target)
  target_compile_features(${target} PRIVATE cxx_std_20)
  target_compile_options(${target} PRIVATE -ffp-contract=off -Wall -Wextra -Wpedantic -Wshadow
                                           $<$<BOOL:${MARTELLO_WERROR}>:-Werror>)
  set_target_properties(${target} PROPERTIES CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON
                                             POSITION_INDEPENDENT_CODE ON)
endfunction()

# Instruction-set levels of kernel sources. MARTELLO_ISA names the namespace that a level's code lives in.
set(MARTELLO_ISA_LEVELS v2 v3 v4)

# Kernels are always optimised, in debug builds too: tests of bits and speed are tests of these very instructions. Only
# under AddressSanitizer as its preset says: what it adds to unrolled loops takes -O3 ten minutes for some sources.
# -mprfchw: without it, a line that is asked for to be written comes as one to read. Processors without it do nothing.
# -Wno-psabi: vectors wider than the level's registers never cross the border of a source.
# -Wno-...uninitialized: GCC 12's own AVX-512 intrinsics start from undefined registers and are warned about.
function(martello_isa_options target level)
  target_compile_definitions(${target} PRIVATE MARTELLO_ISA=${level})
  if(NOT CMAKE_CXX_FLAGS MATCHES "-fsanitize=[a-z,-]*address")
    target_compile_options(${target} PRIVATE -O3)
  endif()
  target_compile_options(${target} PRIVATE -march=x86-64-${level} -mprfchw -fno-math-errno -fno-trapping-math -Wno-psabi
                                           $<$<STREQUAL:${level},v4>:-mprefer-vector-width=512>
                                           $<$<CXX_COMPILER_ID:GNU>:-Wno-uninitialized>
                                           $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
endfunction()
