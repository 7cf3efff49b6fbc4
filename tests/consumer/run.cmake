# cmake -DMARTELLO_BUILD=... -DSOURCE=... -DBINARY=... -DCOMPILER=... -DFLAGS=... -DDNNL=... -P run.cmake
function(step)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT result EQUAL 0)
    list(JOIN ARGN " " command)
    message(FATAL_ERROR "${command}\n${output}")
  endif()
  message(STATUS "${output}")
endfunction()

set(prefix ${BINARY}/prefix)
file(REMOVE_RECURSE ${prefix} ${BINARY}/build)
step(${CMAKE_COMMAND} --install ${MARTELLO_BUILD} --prefix ${prefix})
step(${CMAKE_COMMAND} -G Ninja -S ${SOURCE} -B ${BINARY}/build -DCMAKE_PREFIX_PATH=${prefix}
     -DCMAKE_CXX_COMPILER=${COMPILER} -DCMAKE_CXX_FLAGS=${FLAGS} -DDnnl_ROOT=${DNNL})
step(${CMAKE_COMMAND} --build ${BINARY}/build)
step(${BINARY}/build/consumer)
step(${BINARY}/build/data_alone)
# A oneDNN below this project's own folder does not get into the rpath of what is installed.
if(DNNL)
  set(ENV{LD_LIBRARY_PATH} ${DNNL}/lib)
endif()
step(${prefix}/bin/martello --version)
