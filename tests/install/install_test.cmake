# Installs into a new prefix, builds examples/ against it as a stranger would, and runs the result.
include("${CMAKE_CURRENT_LIST_DIR}/installed.cmake")

install_headers_like("^weir/(client/)?[a-z_]+\\.h$")
if(NOT EXISTS "${prefix}/include/weir/limiter.h")
  message(FATAL_ERROR "weir/limiter.h was not installed")
endif()
build_against_prefix("${SOURCE_DIR}/examples" examples)

# Five lines at once, of which three pass.
file(WRITE "${WORK_DIR}/lines" "a 1\na 2\na 3\na 4\na 5\nb 1\n")
expect_output("a 1\na 2\na 3\nb 1\na: 2 left out\n" "${WORK_DIR}/examples/embed"
              INPUT_FILE "${WORK_DIR}/lines")

# The code of the README runs, on its rules.
code_of_page("${SOURCE_DIR}/README.md")
file(WRITE "${WORK_DIR}/readme/CMakeLists.txt" "cmake_minimum_required(VERSION 3.25)\n"
     "project(readme LANGUAGES CXX)\nfind_package(weir REQUIRED)\n"
     "add_executable(readme readme.cc)\ntarget_link_libraries(readme PRIVATE weir::weir)\n")
build_against_prefix("${WORK_DIR}/readme" readme/build)
blocks_of("${SOURCE_DIR}/README.md" yaml rules)
file(WRITE "${WORK_DIR}/readme/rules.yaml" "${rules}")
run(${CMAKE_COMMAND} -E chdir "${WORK_DIR}/readme" "${WORK_DIR}/readme/build/readme")
file(REMOVE_RECURSE "${WORK_DIR}")
