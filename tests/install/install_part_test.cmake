# ./run builds the target `weir` and no more. What it has built can be installed, and what it has not is
# left out as a whole.
#
# Another build would take minutes. So the install scripts of this one are copied into a folder in which
# only those files of the build are that `weir` is made of, as ninja tells.
include("${CMAKE_CURRENT_LIST_DIR}/installed.cmake")
set(shadow "${WORK_DIR}/build")

function(copy_script path)
  file(READ "${BINARY_DIR}/${path}" script)
  string(REPLACE "${BINARY_DIR}" "${shadow}" script "${script}")
  file(WRITE "${shadow}/${path}" "${script}")
endfunction()

copy_script(cmake_install.cmake)
copy_script(clients/cpp/cmake_install.cmake)
file(WRITE "${shadow}/tests/cmake_install.cmake" "")
execute_process(COMMAND ninja -C "${BINARY_DIR}" -t inputs weir OUTPUT_VARIABLE inputs
                COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL "[^\n]*libweir_[^\n]*\\.a" libraries "${inputs}")
file(GLOB_RECURSE packages RELATIVE "${BINARY_DIR}" "${BINARY_DIR}/CMakeFiles/Export/*.cmake"
     "${BINARY_DIR}/clients/cpp/CMakeFiles/Export/*.cmake")
foreach(file weir weirConfig.cmake weirConfigVersion.cmake clients/cpp/weir-clientConfig.cmake
        clients/cpp/weir-clientConfigVersion.cmake ${libraries} ${packages})
  get_filename_component(folder "${shadow}/${file}" DIRECTORY)
  file(MAKE_DIRECTORY "${folder}")
  file(COPY_FILE "${BINARY_DIR}/${file}" "${shadow}/${file}")
endforeach()

run(${CMAKE_COMMAND} --install "${shadow}" --prefix "${prefix}")
foreach(file bin/weir include/weir/limiter.h lib/libweir_limiter.a lib/cmake/weir/weirConfig.cmake)
  if(NOT EXISTS "${prefix}/${file}")
    message(FATAL_ERROR "${file} was not installed")
  endif()
endforeach()
foreach(file bin/weir-lab include/weir/client lib/libweir_client.a lib/cmake/weir-client)
  if(EXISTS "${prefix}/${file}")
    message(FATAL_ERROR "${file} was installed, though it, or its library, was not built")
  endif()
endforeach()

execute_process(COMMAND ${CMAKE_COMMAND} --install "${shadow}" --prefix "${prefix}" --component weir-client
                RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
if(status EQUAL 0 OR NOT output MATCHES "was not built")
  message(FATAL_ERROR "the client, asked for by name and not built, is no error:\n${output}")
endif()
file(REMOVE_RECURSE "${WORK_DIR}")
