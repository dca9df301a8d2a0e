# The lab and the benchmarks, which lie beside src/ and include from the repository's root.
file(GLOB_RECURSE oracle_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/lab/oracle/*.cc")
list(FILTER oracle_sources EXCLUDE REGEX "_main\\.cc$")
weir_add_library(weir_oracle "${oracle_sources}" weir_limiter)
if(oracle_sources)
  target_include_directories(weir_oracle PUBLIC "${PROJECT_SOURCE_DIR}")
else()
  target_include_directories(weir_oracle INTERFACE "${PROJECT_SOURCE_DIR}")
endif()

weir_executable(weir-lab lab/*.cc weir_oracle CLI11::CLI11 fmt::fmt)

if(NOT WEIR_SANITIZE)
  weir_executable(weir-bench "bench/*.cc;bench/*/*.cc" weir_limiter CLI11::CLI11 fmt::fmt)
endif()
