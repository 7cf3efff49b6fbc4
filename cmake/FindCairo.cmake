# Finds cairo, which has no package file of its own, and gives the target Cairo::Cairo.
find_path(Cairo_INCLUDE_DIR cairo.h PATH_SUFFIXES cairo DOC "Folder of cairo.h.")
find_library(Cairo_LIBRARY cairo DOC "The cairo library.")
mark_as_advanced(Cairo_INCLUDE_DIR Cairo_LIBRARY)

set(Cairo_VERSION)
if(Cairo_INCLUDE_DIR AND EXISTS ${Cairo_INCLUDE_DIR}/cairo-version.h)
  file(STRINGS ${Cairo_INCLUDE_DIR}/cairo-version.h lines REGEX "#define CAIRO_VERSION_(MAJOR|MINOR|MICRO) +[0-9]+")
  string(REGEX REPLACE "[^0-9]+" "." numbers "${lines}")
  string(REGEX REPLACE "^\\.|\\.$" "" Cairo_VERSION "${numbers}")
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Cairo REQUIRED_VARS Cairo_LIBRARY Cairo_INCLUDE_DIR VERSION_VAR Cairo_VERSION)

if(Cairo_FOUND AND NOT TARGET Cairo::Cairo)
  add_library(Cairo::Cairo UNKNOWN IMPORTED)
  set_target_properties(Cairo::Cairo PROPERTIES IMPORTED_LOCATION "${Cairo_LIBRARY}"
                                                INTERFACE_INCLUDE_DIRECTORIES "${Cairo_INCLUDE_DIR}")
endif()
