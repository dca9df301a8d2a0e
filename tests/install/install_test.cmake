# Installs into a new prefix, builds examples/ against it as a stranger would, and runs the result.
# Arguments: SOURCE_DIR, BINARY_DIR (of the build to install), WORK_DIR.
function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE status OUTPUT_VARIABLE output
                  ERROR_VARIABLE output)
  if(NOT status EQUAL 0)
    list(JOIN ARGN " " command)
    message(FATAL_ERROR "${command}\n${output}")
  endif()
endfunction()

set(prefix "${WORK_DIR}/prefix")
file(REMOVE_RECURSE "${WORK_DIR}")
run(${CMAKE_COMMAND} --install "${BINARY_DIR}" --prefix "${prefix}")

file(GLOB_RECURSE headers RELATIVE "${prefix}/include" "${prefix}/include/*")
foreach(header IN LISTS headers)
  if(NOT header MATCHES "^weir/(client/)?[a-z_]+\\.h$")
    message(FATAL_ERROR "${header} is private and was installed")
  endif()
endforeach()
if(NOT EXISTS "${prefix}/include/weir/limiter.h")
  message(FATAL_ERROR "weir/limiter.h was not installed")
endif()

run(${CMAKE_COMMAND} -G Ninja -S "${SOURCE_DIR}/examples" -B "${WORK_DIR}/examples"
    "-DCMAKE_PREFIX_PATH=${prefix}" -DCMAKE_BUILD_TYPE=Release
    "-DCMAKE_CXX_FLAGS=-Wall -Wextra -Werror")
run(${CMAKE_COMMAND} --build "${WORK_DIR}/examples")

# Five lines at once, of which three pass.
file(WRITE "${WORK_DIR}/lines" "a 1\na 2\na 3\na 4\na 5\nb 1\n")
execute_process(COMMAND "${WORK_DIR}/examples/embed" INPUT_FILE "${WORK_DIR}/lines"
                OUTPUT_VARIABLE output RESULT_VARIABLE status)
set(expected "a 1\na 2\na 3\nb 1\na: 2 left out\n")
if(NOT status EQUAL 0 OR NOT output STREQUAL expected)
  message(FATAL_ERROR "embed printed\n${output}instead of\n${expected}")
endif()
file(REMOVE_RECURSE "${WORK_DIR}")
