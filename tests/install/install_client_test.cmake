# Installs the C++ client alone into a new prefix, builds clients/cpp/examples against it as a stranger
# would, and runs one where no server answers; builds the code of the client's README.
include("${CMAKE_CURRENT_LIST_DIR}/installed.cmake")

install_headers_like("^weir/client/[a-z_]+\\.h$" --component weir-client)
build_against_prefix("${SOURCE_DIR}/clients/cpp/examples" examples)
expect_output("allowed by degraded, attempts: 1\nallowed by degraded, attempts: 1\n"
              "${WORK_DIR}/examples/ask" 127.0.0.1:1 demo ping ann 2)

code_of_page("${SOURCE_DIR}/clients/cpp/README.md")
blocks_of("${SOURCE_DIR}/clients/cpp/README.md" cmake lines)
file(WRITE "${WORK_DIR}/readme/CMakeLists.txt" "cmake_minimum_required(VERSION 3.25)\n"
     "project(readme LANGUAGES CXX)\nadd_executable(program readme.cc)\n${lines}")
build_against_prefix("${WORK_DIR}/readme" readme/build)
file(REMOVE_RECURSE "${WORK_DIR}")
