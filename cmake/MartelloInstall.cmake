# Installation: libraries, public headers and a package that find_package(martello) finds.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(martello_package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/martello)

function(martello_install_library folder separate)
  set(export martello-targets)
  if(separate)
    set(export martello-${folder}-targets)
    install(EXPORT ${export} NAMESPACE martello:: DESTINATION ${martello_package_dir})
  else()
    set_property(GLOBAL APPEND PROPERTY MARTELLO_UMBRELLA martello::${folder})
  endif()
  set_target_properties(martello_${folder} PROPERTIES EXPORT_NAME ${folder})
  install(TARGETS martello_${folder} EXPORT ${export}
          ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
          FILE_SET HEADERS DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
endfunction()

# martello::martello, all folders under one name, with <martello/martello.h>.
function(martello_umbrella)
  get_property(libraries GLOBAL PROPERTY MARTELLO_UMBRELLA)
  add_library(martello INTERFACE)
  add_library(martello::martello ALIAS martello)
  target_link_libraries(martello INTERFACE ${libraries})
  target_sources(martello INTERFACE FILE_SET HEADERS BASE_DIRS ${PROJECT_SOURCE_DIR}
                                    FILES ${PROJECT_SOURCE_DIR}/martello/martello.h)
  install(TARGETS martello EXPORT martello-targets FILE_SET HEADERS DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
  install(EXPORT martello-targets NAMESPACE martello:: DESTINATION ${martello_package_dir})

  string(REGEX MATCH "^([0-9]+)\\.[0-9]+" martello_dnnl_versions ${Dnnl_VERSION})
  math(EXPR next_major "${CMAKE_MATCH_1} + 1")
  string(APPEND martello_dnnl_versions "...<${next_major}")
  configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/martelloConfig.cmake.in
                                ${PROJECT_BINARY_DIR}/martelloConfig.cmake INSTALL_DESTINATION ${martello_package_dir})
  write_basic_package_version_file(${PROJECT_BINARY_DIR}/martelloConfigVersion.cmake COMPATIBILITY SameMinorVersion)
  install(FILES ${PROJECT_BINARY_DIR}/martelloConfig.cmake ${PROJECT_BINARY_DIR}/martelloConfigVersion.cmake
                ${PROJECT_SOURCE_DIR}/cmake/FindCairo.cmake ${PROJECT_SOURCE_DIR}/cmake/FindDnnl.cmake
          DESTINATION ${martello_package_dir})
endfunction()

function(martello_summary)
  get_property(folders GLOBAL PROPERTY MARTELLO_FOLDERS)
  get_property(ops GLOBAL PROPERTY MARTELLO_OPS)
  list(JOIN folders " " folders)
  list(LENGTH ops op_count)
  set(launcher "none")
  if(CMAKE_CXX_COMPILER_LAUNCHER)
    set(launcher ${CMAKE_CXX_COMPILER_LAUNCHER})
  endif()
  message(STATUS "Martello ${PROJECT_VERSION}")
  message(STATUS "  compiler   ${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}, ${CMAKE_BUILD_TYPE}, "
                 "launcher ${launcher}")
  message(STATUS "  oneDNN     ${Dnnl_VERSION} (${Dnnl_LIBRARY})")
  message(STATUS "  folders    ${folders}")
  message(STATUS "  ops        ${op_count} for x86-64 v2, v3, v4")
  message(STATUS "  tests      ${MARTELLO_BUILD_TESTS}")
  message(STATUS "  bench      ${MARTELLO_BUILD_BENCH}")
  message(STATUS "  examples   ${MARTELLO_BUILD_EXAMPLES}")
endfunction()
