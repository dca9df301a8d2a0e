# The three kinds of targets: a library per folder, an executable, a test per folder.
# Folders that are still empty are tolerated; a file that is added is found by the next build.

# weir_library(NAME DEPENDENCIES...): weir_NAME from src/NAME/**/*.cc, without main.cc. cluster/net is
# a target of its own, weir_cluster_net.
function(weir_library name)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/src/${name}/*.cc")
  list(FILTER sources EXCLUDE REGEX "/main\\.cc$")
  if(name STREQUAL "cluster")
    list(FILTER sources EXCLUDE REGEX "/src/cluster/net/")
  endif()
  string(REPLACE "/" "_" target ${name})
  weir_add_library(weir_${target} "${sources}" ${ARGN})
  if(sources AND "weir_${target}" IN_LIST WEIR_READERS)
    target_compile_options(weir_${target} PRIVATE ${WEIR_COVERAGE})
  endif()
endfunction()

# weir_add_library(TARGET SOURCES DEPENDENCIES...)
function(weir_add_library target sources)
  if(sources)
    add_library(${target} STATIC ${sources})
    set(scope PUBLIC)
    weir_compile_together(${target})
    if(NOT target IN_LIST WEIR_OWN_HEADERS)
      weir_use_common_headers(${target})
    endif()
  else()
    add_library(${target} INTERFACE)
    set(scope INTERFACE)
  endif()
  target_link_libraries(${target} ${scope} ${ARGN})
  target_compile_features(${target} ${scope} cxx_std_20)
  target_include_directories(${target} ${scope}
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/src>
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
endfunction()

# Folders that read something slow besides, with a precompiled header of their own.
set(WEIR_OWN_HEADERS weir_config weir_server)

# What a request passes through stays one object per file in what is delivered: for several files
# together the compiler inlines less, and a decision took 2.5 % more instructions.
set(WEIR_APART weir_base weir_algorithms weir_store weir_holds weir_limiter weir_fronts)

# weir_compile_together(TARGET): with WEIR_UNITY, several files of the target as one. Together they
# read the headers, and make what they need of templates, only once.
function(weir_compile_together target)
  set(batch 8)
  if(WEIR_SANITIZE AND target MATCHES "_test$")  # whose files have a namespace each
    set(batch 24)
  endif()
  if(WEIR_UNITY AND (WEIR_SANITIZE OR NOT target IN_LIST WEIR_APART))
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON
                          UNITY_BUILD_BATCH_SIZE ${batch})
  endif()
endfunction()

# weir_precompile(TARGET HEADERS...): what most files of the target include, compiled once. Not for files
# that are compiled together: the few that are left read the headers in less time than it takes to
# write them.
function(weir_precompile target)
  get_target_property(together ${target} UNITY_BUILD)
  if(NOT together)
    target_precompile_headers(${target} PRIVATE ${ARGN})
  endif()
endfunction()

# What is read by most files of most folders: one precompiled header for all of them, where all are
# compiled alike.
set(WEIR_COMMON_HEADERS <algorithm> <array> <atomic> <chrono> <cstdint> <functional> <map> <memory>
  <mutex> <optional> <span> <string> <string_view> <utility> <variant> <vector>
  <absl/container/flat_hash_map.h> <absl/container/inlined_vector.h>)
function(weir_use_common_headers target)
  get_target_property(together ${target} UNITY_BUILD)
  if(together)
    return()
  endif()
  if(WEIR_SANITIZE)
    target_precompile_headers(${target} PRIVATE ${WEIR_COMMON_HEADERS})
    return()
  endif()
  if(NOT TARGET weir_headers)
    file(CONFIGURE OUTPUT "${CMAKE_BINARY_DIR}/headers.cc" CONTENT "")
    add_library(weir_headers OBJECT "${CMAKE_BINARY_DIR}/headers.cc")
    target_precompile_headers(weir_headers PRIVATE ${WEIR_COMMON_HEADERS})
  endif()
  target_precompile_headers(${target} REUSE_FROM weir_headers)
endfunction()

# weir_executable(NAME PATTERNS LIBRARIES...): build/NAME, if files match the list of patterns.
function(weir_executable name patterns)
  list(TRANSFORM patterns PREPEND "${PROJECT_SOURCE_DIR}/")
  file(GLOB sources CONFIGURE_DEPENDS ${patterns})
  if(NOT sources)
    return()
  endif()
  add_executable(${name} ${sources})
  target_link_libraries(${name} PRIVATE ${ARGN})
  target_include_directories(${name} PRIVATE "${PROJECT_SOURCE_DIR}")
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}")
  add_dependencies(programs ${name})
endfunction()

# weir_test(FOLDER LIBRARIES...): one executable of tests/FOLDER/*.cc. With WEIR_EACH_CASE each case is
# a ctest of its own, FOLDER.Suite.Case (a/b is a_b), with one label that follows from its name:
#   …Long…     `long`: not run by ./test
#   …Thread…   `threads`: also run under the thread sanitizer, where only files with such a case
#              are built
#   others     `short`
#
# Tests are compiled with -O1, three quarters of the work of -O2. Not with -O0: of an inline function
# that a test and a library have, the linker takes the test's.
function(weir_test folder)
  file(GLOB sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/${folder}/*.cc")
  list(FILTER sources EXCLUDE REGEX "_main\\.cc$")
  weir_keep_thread_tests(sources)
  if(NOT sources)
    return()
  endif()
  string(REPLACE "/" "_" name ${folder})
  set(target ${name}_test)
  add_executable(${target} ${sources})
  target_link_libraries(${target} PRIVATE ${ARGN} rapidcheck rapidcheck_gtest GTest::gtest
                        GTest::gtest_main)
  target_include_directories(${target} PRIVATE "${PROJECT_SOURCE_DIR}")
  target_compile_definitions(${target} PRIVATE WEIR_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
  target_compile_options(${target} PRIVATE -O1)
  weir_compile_together(${target})
  if(NOT WEIR_SANITIZE OR NOT WEIR_UNITY)
    weir_use_test_headers(${target})
  endif()
  add_dependencies(tests ${target})
  set_target_properties(${target} PROPERTIES
                        RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/tests")
  if(WEIR_EACH_CASE)
    weir_discover(${name} long "*Long*" 7200)
    weir_discover(${name} threads "*Thread*:-*Long*" 300)
    weir_discover(${name} short "-*Long*:*Thread*" 300)
  else()
    weir_run_at_once(${name})
  endif()
endfunction()

# weir_run_at_once(NAME): all cases of NAME_test in one process, as one ctest: under a sanitizer most
# cases take less time than to start one. Those that wait for real servers are shared by several.
set(WEIR_SHARDS_e2e 4)
function(weir_run_at_once name)
  set(filter "-*Long*")
  set(label short)
  if(WEIR_SANITIZE STREQUAL "thread")
    set(filter "*Thread*:-*Long*")
    set(label threads)
  endif()
  set(shards 1)
  if(DEFINED WEIR_SHARDS_${name})
    set(shards ${WEIR_SHARDS_${name}})
  endif()
  math(EXPR last "${shards} - 1")
  foreach(shard RANGE ${last})
    add_test(NAME ${name}.${shard} COMMAND ${name}_test --gtest_filter=${filter} --gtest_brief=1
             WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}")
    set_tests_properties(${name}.${shard} PROPERTIES TIMEOUT 900 LABELS ${label}
      ENVIRONMENT
      "GTEST_TOTAL_SHARDS=${shards};GTEST_SHARD_INDEX=${shard};WEIR_DEADLINE=${WEIR_TEST_DEADLINE}")
  endforeach()
endfunction()

# weir_without_sanitizer(TARGET): for tests that only start the server and talk to it. The server is
# sanitized; the test compiles in a third of the time.
function(weir_without_sanitizer target)
  if(TARGET ${target} AND WEIR_SANITIZE)
    target_compile_options(${target} PRIVATE -fno-sanitize=all)
    set_target_properties(${target} PROPERTIES DISABLE_PRECOMPILE_HEADERS ON)  # other flags
  endif()
endfunction()

# Tests that take longest begin first, so that the last ones are short and no core waits.
set(WEIR_COST_oracle 50)
set(WEIR_COST_store 20)

# Tests share their machine with builds and sanitizers: servers that they start do not take that for
# overload.
set(WEIR_TEST_DEADLINE 10s)

# weir_discover(NAME LABEL FILTER TIMEOUT_SECONDS)
function(weir_discover name label filter timeout)
  set(cost 0)
  if(DEFINED WEIR_COST_${name})
    set(cost ${WEIR_COST_${name}})
  endif()
  gtest_discover_tests(${name}_test DISCOVERY_MODE PRE_TEST DISCOVERY_TIMEOUT 60 NO_PRETTY_VALUES
    TEST_FILTER "${filter}" TEST_PREFIX "${name}." TEST_LIST ${name}_${label}
    WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}"
    PROPERTIES TIMEOUT ${timeout} LABELS ${label} COST ${cost}
               ENVIRONMENT "WEIR_DEADLINE=${WEIR_TEST_DEADLINE}")
endfunction()

# The headers that most tests read, compiled once.
function(weir_use_test_headers target)
  if(NOT TARGET weir_test_headers)
    file(CONFIGURE OUTPUT "${CMAKE_BINARY_DIR}/test_headers.cc" CONTENT "")
    add_library(weir_test_headers OBJECT "${CMAKE_BINARY_DIR}/test_headers.cc")
    target_link_libraries(weir_test_headers PRIVATE rapidcheck rapidcheck_gtest GTest::gtest)
    target_compile_options(weir_test_headers PRIVATE -O1)
    target_precompile_headers(weir_test_headers PRIVATE <gtest/gtest.h> <rapidcheck.h>
                              <rapidcheck/gtest.h>)
  endif()
  target_precompile_headers(${target} REUSE_FROM weir_test_headers)
endfunction()

# Under the thread sanitizer: empties the list unless one of the files has a thread test.
function(weir_keep_thread_tests list)
  if(NOT WEIR_SANITIZE STREQUAL "thread")
    return()
  endif()
  set(tests "")
  set(helpers "")
  foreach(source IN LISTS ${list})
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${source}")
    file(STRINGS "${source}" hits REGEX "^(TEST|TYPED_TEST|RC_GTEST).*Thread")
    if(hits)
      list(APPEND tests "${source}")
    elseif(NOT source MATCHES "_test\\.cc$")
      list(APPEND helpers "${source}")
    endif()
  endforeach()
  if(tests)
    set(${list} ${tests} ${helpers} PARENT_SCOPE)
  else()
    set(${list} "" PARENT_SCOPE)
  endif()
endfunction()
