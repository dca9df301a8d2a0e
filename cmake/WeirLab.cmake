# The lab and the benchmarks, which lie beside src/ and include from the repository's root.
file(GLOB_RECURSE oracle_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/lab/oracle/*.cc")
list(FILTER oracle_sources EXCLUDE REGEX "_main\\.cc$")
weir_add_library(weir_oracle "${oracle_sources}" weir_limiter)
if(oracle_sources)
  target_include_directories(weir_oracle PUBLIC "${PROJECT_SOURCE_DIR}")
else()
  target_include_directories(weir_oracle INTERFACE "${PROJECT_SOURCE_DIR}")
endif()

# The one file that includes CLI11.
weir_add_library(weir_lab_command_line "${PROJECT_SOURCE_DIR}/lab/command_line/command_line.cc"
                 CLI11::CLI11 fmt::fmt weir_base)
target_include_directories(weir_lab_command_line PUBLIC "${PROJECT_SOURCE_DIR}")

# The simulation, and apart from it what is told of it.
file(GLOB replicated_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/lab/replicated/*.cc")
weir_add_library(weir_replicated_lab "${replicated_sources}" weir_replication fmt::fmt
                 nlohmann_json::nlohmann_json)
target_include_directories(weir_replicated_lab PUBLIC "${PROJECT_SOURCE_DIR}")
file(GLOB report_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/lab/replicated/report/*.cc")
weir_add_library(weir_replicated_report "${report_sources}" weir_replicated_lab
                 weir_lab_command_line fmt::fmt)

file(GLOB_RECURSE chaos_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/lab/chaos/*.cc")
weir_add_library(weir_chaos_lab "${chaos_sources}" weir_cluster weir_replication weir_base
                 absl::flat_hash_map weir_lab_command_line fmt::fmt)
target_include_directories(weir_chaos_lab PUBLIC "${PROJECT_SOURCE_DIR}")

# Real servers, beside the simulated ones.
file(GLOB live_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/lab/live/*.cc")
weir_add_library(weir_live_lab "${live_sources}" weir_cluster
                 weir_replicated_lab weir_lab_command_line fmt::fmt)

weir_executable(weir-lab lab/*.cc weir_oracle weir_replicated_report weir_chaos_lab weir_live_lab
                fmt::fmt)

if(NOT WEIR_SANITIZE)
  weir_executable(weir-bench "bench/*.cc;bench/*/*.cc" weir_server weir_live_lab CLI11::CLI11 fmt::fmt
                  weir_api nghttp2::nghttp2)
endif()

# A rival on the wire, of grpc++. Not in TSan builds, where Debian's grpc++ raises false alarms; and
# not in `all`, for it compiles slowly.
find_package(gRPC QUIET CONFIG)
if(gRPC_FOUND AND NOT WEIR_SANITIZE)
  set(rls envoy/service/ratelimit/v3/rls)
  add_custom_command(
    OUTPUT "${PROJECT_BINARY_DIR}/api/${rls}.grpc.pb.cc" "${PROJECT_BINARY_DIR}/api/${rls}.grpc.pb.h"
    COMMAND protobuf::protoc "--proto_path=${PROJECT_SOURCE_DIR}/api"
            "--grpc_out=${PROJECT_BINARY_DIR}/api"
            "--plugin=protoc-gen-grpc=$<TARGET_FILE:gRPC::grpc_cpp_plugin>"
            "${PROJECT_SOURCE_DIR}/api/${rls}.proto"
    DEPENDS "${PROJECT_SOURCE_DIR}/api/${rls}.proto" VERBATIM)
  # What grpc++ makes of Envoy's service; a client of it is among the tests.
  add_library(weir_grpcpp STATIC EXCLUDE_FROM_ALL "${PROJECT_BINARY_DIR}/api/${rls}.grpc.pb.cc")
  target_compile_options(weir_grpcpp PRIVATE -w)
  target_link_libraries(weir_grpcpp PUBLIC weir_api gRPC::grpc++ absl::synchronization)
  add_executable(grpc-peer EXCLUDE_FROM_ALL bench/fronts/peers/grpc_peer.cc)
  target_compile_options(grpc-peer PRIVATE -w)
  target_link_libraries(grpc-peer PRIVATE weir_grpcpp)
  set_target_properties(grpc-peer PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}")
endif()
