# External packages. Nothing is downloaded; docs/dependencies.md has a reason for each.

# martello_find(<package> <version> DEBIAN <package> [COMPONENTS ...]): required, or an error that says what to do.
macro(martello_find package version)
  cmake_parse_arguments(martello_find "" "DEBIAN" "COMPONENTS" ${ARGN})
  set(martello_find_components)
  if(martello_find_COMPONENTS)
    set(martello_find_components COMPONENTS ${martello_find_COMPONENTS})
  endif()
  find_package(${package} ${version} QUIET ${martello_find_components})
  if(NOT ${package}_FOUND)
    message(FATAL_ERROR "${package} >= ${version} was not found. On Debian: apt-get install ${martello_find_DEBIAN}. "
                        "Elsewhere: set ${package}_ROOT to the prefix that holds it (-D${package}_ROOT=/opt/...).")
  endif()
endmacro()

martello_find(Dnnl 2.6 DEBIAN libdnnl-dev)
martello_find(ZLIB 1.2.11 DEBIAN zlib1g-dev)
martello_find(PNG 1.6 DEBIAN libpng-dev)
martello_find(Cairo 1.16 DEBIAN libcairo2-dev)
martello_find(nlohmann_json 3.11 DEBIAN nlohmann-json3-dev)

# Linked by name, as `gomp`: it lies in GCC's own folder, which Clang searches too. See "One pool of threads" in
# docs/dependencies.md for why it is not FindOpenMP's choice.
include(CheckCXXSourceCompiles)
set(CMAKE_REQUIRED_LIBRARIES gomp)
check_cxx_source_compiles("#include <omp.h>\nint main() { return omp_get_max_threads() < 1; }" MARTELLO_HAS_GOMP)
unset(CMAKE_REQUIRED_LIBRARIES)
if(NOT MARTELLO_HAS_GOMP)
  message(FATAL_ERROR "<omp.h> and libgomp were not found. On Debian: apt-get install g++, with Clang also libomp-dev "
                      "(its omp.h). Elsewhere: add their folders to CMAKE_CXX_FLAGS (-I... -L...).")
endif()

if(MARTELLO_BUILD_TESTS)
  martello_find(GTest 1.12 DEBIAN libgtest-dev)
  martello_find(Python3 3.9 DEBIAN python3 COMPONENTS Interpreter)
endif()
