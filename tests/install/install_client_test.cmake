# Installs the C++ client alone into a new prefix, builds clients/cpp/examples against it as a stranger
# would, and runs one where no server answers; builds the code of the client's README.
include("${CMAKE_CURRENT_LIST_DIR}/installed.cmake")

install_headers_like("^weir/client/[a-z_]+\\.h$" --component weir-client)
build_against_prefix("${SOURCE_DIR}/clients/cpp/examples" examples)
expect_output("allowed by degraded, attempts: 1\nallowed by degraded, attempts: 1\n"
              "${WORK_DIR}/examples/ask" 127.0.0.1:1 demo ping ann 2)

execute_process(COMMAND sed -n "/^```cpp/,/^```/{/^```/!p}" "${SOURCE_DIR}/clients/cpp/README.md"
                OUTPUT_VARIABLE code)
file(WRITE "${WORK_DIR}/readme/readme.cc" "#include <iostream>\n#include \"weir/client/client.h\"\n"
     "using namespace std::chrono_literals;\nint main() {\n${code}}\n")
file(WRITE "${WORK_DIR}/readme/CMakeLists.txt" "cmake_minimum_required(VERSION 3.25)\n"
     "project(readme LANGUAGES CXX)\nfind_package(weir-client REQUIRED)\n"
     "add_executable(readme readme.cc)\ntarget_link_libraries(readme PRIVATE weir::client)\n")
build_against_prefix("${WORK_DIR}/readme" readme/build)
file(REMOVE_RECURSE "${WORK_DIR}")
