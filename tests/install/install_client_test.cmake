# Installs the C++ client alone into a new prefix, builds clients/cpp/examples against it as a stranger
# would, and runs one where no server answers; builds the code of the client's README.
# Arguments: SOURCE_DIR, BINARY_DIR (of the build to install), WORK_DIR; KEEP to look at it afterwards.
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
run(${CMAKE_COMMAND} --install "${BINARY_DIR}" --component weir-client --prefix "${prefix}")

file(GLOB_RECURSE headers RELATIVE "${prefix}/include" "${prefix}/include/*")
foreach(header IN LISTS headers)
  if(NOT header MATCHES "^weir/client/[a-z_]+\\.h$")
    message(FATAL_ERROR "${header} is not the client's and was installed with it")
  endif()
endforeach()

run(${CMAKE_COMMAND} -G Ninja -S "${SOURCE_DIR}/clients/cpp/examples" -B "${WORK_DIR}/examples"
    "-DCMAKE_PREFIX_PATH=${prefix}" -DCMAKE_BUILD_TYPE=Release
    "-DCMAKE_CXX_FLAGS=-Wall -Wextra -Werror")
run(${CMAKE_COMMAND} --build "${WORK_DIR}/examples")

execute_process(COMMAND "${WORK_DIR}/examples/ask" 127.0.0.1:1 demo ping ann 2
                OUTPUT_VARIABLE output RESULT_VARIABLE status)
set(expected "allowed by degraded, attempts: 1\nallowed by degraded, attempts: 1\n")
if(NOT status EQUAL 0 OR NOT output STREQUAL expected)
  message(FATAL_ERROR "ask printed\n${output}instead of\n${expected}")
endif()

# The code of the README.
execute_process(COMMAND sed -n "/^```cpp/,/^```/{/^```/!p}" "${SOURCE_DIR}/clients/cpp/README.md"
                OUTPUT_VARIABLE code)
file(WRITE "${WORK_DIR}/readme/readme.cc" "#include <iostream>\n#include \"weir/client/client.h\"\n"
     "using namespace std::chrono_literals;\nint main() {\n${code}}\n")
file(WRITE "${WORK_DIR}/readme/CMakeLists.txt" "cmake_minimum_required(VERSION 3.25)\n"
     "project(readme LANGUAGES CXX)\nfind_package(weir-client REQUIRED)\n"
     "add_executable(readme readme.cc)\ntarget_link_libraries(readme PRIVATE weir::client)\n")
run(${CMAKE_COMMAND} -G Ninja -S "${WORK_DIR}/readme" -B "${WORK_DIR}/readme/build"
    "-DCMAKE_PREFIX_PATH=${prefix}" "-DCMAKE_CXX_FLAGS=-Wall -Wextra -Werror")
run(${CMAKE_COMMAND} --build "${WORK_DIR}/readme/build")
if(NOT KEEP)
  file(REMOVE_RECURSE "${WORK_DIR}")
endif()
