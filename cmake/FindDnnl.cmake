# Finds oneDNN 2.x and 3.x and gives the target dnnl::dnnl. The package file that comes with oneDNN is passed over: it
# accepts a single major version only, and Debian's asks for OpenCL headers that we do not use.
find_path(Dnnl_INCLUDE_DIR dnnl.hpp DOC "Folder of dnnl.hpp.")
find_library(Dnnl_LIBRARY dnnl DOC "The oneDNN library.")
mark_as_advanced(Dnnl_INCLUDE_DIR Dnnl_LIBRARY)

set(Dnnl_VERSION)
foreach(header dnnl_version.h oneapi/dnnl/dnnl_version.h)
  if(NOT Dnnl_VERSION AND Dnnl_INCLUDE_DIR AND EXISTS ${Dnnl_INCLUDE_DIR}/${header})
    file(STRINGS ${Dnnl_INCLUDE_DIR}/${header} lines REGEX "#define DNNL_VERSION_(MAJOR|MINOR|PATCH) +[0-9]+")
    string(REGEX REPLACE "[^0-9]+" "." numbers "${lines}")
    string(REGEX REPLACE "^\\.|\\.$" "" Dnnl_VERSION "${numbers}")
  endif()
endforeach()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Dnnl REQUIRED_VARS Dnnl_LIBRARY Dnnl_INCLUDE_DIR VERSION_VAR Dnnl_VERSION
                                  HANDLE_VERSION_RANGE)

if(Dnnl_FOUND AND NOT TARGET dnnl::dnnl)
  add_library(dnnl::dnnl UNKNOWN IMPORTED)
  set_target_properties(dnnl::dnnl PROPERTIES IMPORTED_LOCATION "${Dnnl_LIBRARY}"
                                              INTERFACE_INCLUDE_DIRECTORIES "${Dnnl_INCLUDE_DIR}")
endif()
