# What the tests of an installation share. They are given SOURCE_DIR, BINARY_DIR (of the build to
# install) and WORK_DIR, which is emptied at first.
set(prefix "${WORK_DIR}/prefix")
file(REMOVE_RECURSE "${WORK_DIR}")

# run(COMMAND...): a failure is the test's, with all that was printed.
function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE status OUTPUT_VARIABLE output
                  ERROR_VARIABLE output)
  if(NOT status EQUAL 0)
    list(JOIN ARGN " " command)
    message(FATAL_ERROR "${command}\n${output}")
  endif()
endfunction()

# install_headers_like(REGEX OPTIONS...): into the prefix, with no header of another name.
function(install_headers_like regex)
  run(${CMAKE_COMMAND} --install "${BINARY_DIR}" --prefix "${prefix}" ${ARGN})
  file(GLOB_RECURSE headers RELATIVE "${prefix}/include" "${prefix}/include/*")
  if(NOT headers)
    message(FATAL_ERROR "no header was installed")
  endif()
  foreach(header IN LISTS headers)
    if(NOT header MATCHES "${regex}")
      message(FATAL_ERROR "${header} was installed and does not belong there")
    endif()
  endforeach()
endfunction()

# build_against_prefix(FOLDER NAME): as a stranger would, in WORK_DIR/NAME.
function(build_against_prefix folder name)
  run(${CMAKE_COMMAND} -G Ninja -S "${folder}" -B "${WORK_DIR}/${name}"
      "-DCMAKE_PREFIX_PATH=${prefix}" -DCMAKE_BUILD_TYPE=Release
      "-DCMAKE_CXX_FLAGS=-Wall -Wextra -Werror")
  run(${CMAKE_COMMAND} --build "${WORK_DIR}/${name}")
endfunction()

# blocks_of(PAGE LANGUAGE VARIABLE): the text of its fenced blocks in that language.
function(blocks_of page language variable)
  execute_process(COMMAND sed -n "/^```${language}/,/^```/{/^```/!p}" "${page}" OUTPUT_VARIABLE text)
  set(${variable} "${text}" PARENT_SCOPE)
endfunction()

# code_of_page(PAGE): its C++ as the main of WORK_DIR/readme/readme.cc.
function(code_of_page page)
  blocks_of("${page}" cpp code)
  string(REGEX MATCHALL "#include [^\n]*\n" includes "${code}")
  string(REGEX REPLACE "#include [^\n]*\n" "" code "${code}")
  string(REPLACE "…" "{}" code "${code}")
  list(JOIN includes "" includes)
  file(WRITE "${WORK_DIR}/readme/readme.cc" "#include <iostream>\n${includes}"
       "using namespace std::chrono_literals;\nint main() {\n${code}}\n")
endfunction()

# expect_output(TEXT COMMAND...): arguments of execute_process may follow the command.
function(expect_output expected)
  execute_process(COMMAND ${ARGN} OUTPUT_VARIABLE output RESULT_VARIABLE status)
  if(NOT status EQUAL 0 OR NOT output STREQUAL expected)
    list(JOIN ARGN " " command)
    message(FATAL_ERROR "${command} printed\n${output}instead of\n${expected}")
  endif()
endfunction()
