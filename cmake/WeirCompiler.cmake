# How every file is compiled: the language, warnings, sanitizers, the linker, ccache.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

# Optimised, with line numbers in stack traces. Asserts stay on: there is no -DNDEBUG.
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "" FORCE)
endif()
if(WEIR_SANITIZE)
  set(CMAKE_CXX_FLAGS_RELWITHDEBINFO "-O1 -g1")
else()
  set(CMAKE_CXX_FLAGS_RELWITHDEBINFO "-O2 -g1")
endif()

if(CMAKE_SYSTEM_PROCESSOR STREQUAL "x86_64")
  add_compile_options($<IF:$<BOOL:${WEIR_NATIVE}>,-march=native,-march=x86-64-v2>)
elseif(WEIR_NATIVE)
  add_compile_options(-mcpu=native)
endif()

add_compile_options(-Wall -Wextra -Wconversion)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # Not the whole of -Wshadow: a constructor's parameter may be called like the field that it sets.
  add_compile_options(-Wshadow=local)
  # -Wpedantic of g++ cannot spare __int128, so its parts are named.
  add_compile_options(-Wextra-semi -Wvla -Wpointer-arith -Wvariadic-macros -Woverlength-strings)
  # False alarms: of g++ 12 in its own std::string (some depend on the length of a path); on fields
  # that a brace leaves at their zero.
  add_compile_options(-Wno-restrict -Wno-array-bounds -Wno-stringop-overflow -Wno-stringop-overread
                      -Wno-missing-field-initializers)
  if(WEIR_SANITIZE)
    add_compile_options(-Wno-maybe-uninitialized)  # the sanitizers' code confuses it
  endif()
else()
  add_compile_options(-Wpedantic -Wshadow -Wno-missing-field-initializers)
endif()
if(WEIR_WERROR)
  add_compile_options(-Werror)
endif()

if(WEIR_SANITIZE)
  add_compile_options(-fsanitize=${WEIR_SANITIZE} -fno-sanitize-recover=all
                      -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${WEIR_SANITIZE})
  if(WEIR_SANITIZE MATCHES "undefined")
    # They take a tenth of the time to compile, and look for what the address sanitizer finds too.
    add_compile_options(-fno-sanitize=vptr,object-size)
  endif()
endif()
# What is left of a mistake that no test found: an overrun of the stack or of a buffer whose size is known
# ends the process, and nothing that the linker has resolved can be written to later. The sanitizers
# have better means. Undefined first: some compilers define it themselves, otherwise.
if(NOT WEIR_SANITIZE)
  add_compile_options(-fstack-protector-strong -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2)
  add_link_options(-Wl,-z,relro,-z,now)
endif()

# What fuzz targets reach tells them which branches an input took: in folders that read bytes of
# others. The rest does without: a quarter of the time to compile it.
set(WEIR_COVERAGE $<$<BOOL:${WEIR_FUZZ}>:-fsanitize=fuzzer-no-link>)
set(WEIR_READERS weir_rules weir_fronts weir_cluster weir_config)

find_program(WEIR_LINKER NAMES mold ld.lld)
if(WEIR_LINKER MATCHES "mold$")
  add_link_options(-fuse-ld=mold)
elseif(WEIR_LINKER)
  add_link_options(-fuse-ld=lld)
endif()

find_program(WEIR_CCACHE ccache)
if(WEIR_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # What ccache needs to be told to cache files that use a precompiled header, and to find in a clone
  # what was compiled in another.
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env
      CCACHE_SLOPPINESS=pch_defines,time_macros CCACHE_BASEDIR=${PROJECT_SOURCE_DIR}
      CCACHE_NOHASHDIR=1 ${WEIR_CCACHE})
  add_compile_options($<$<CXX_COMPILER_ID:GNU>:-fpch-preprocess>)
endif()
# Paths in messages and in line numbers begin at the repository's root.
add_compile_options(-ffile-prefix-map=${PROJECT_SOURCE_DIR}/=)
