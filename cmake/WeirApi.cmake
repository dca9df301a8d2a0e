# weir_api: the messages of api/**/*.proto, as C++ made by protoc. Their warnings are not ours.
find_package(Protobuf REQUIRED)

function(weir_api_library)
  set(root "${PROJECT_SOURCE_DIR}/api")
  set(out "${PROJECT_BINARY_DIR}/api")
  file(GLOB_RECURSE protos CONFIGURE_DEPENDS "${root}/*.proto")
  set(generated "")
  file(MAKE_DIRECTORY "${out}")
  foreach(proto IN LISTS protos)
    file(RELATIVE_PATH name "${root}" "${proto}")
    string(REGEX REPLACE "\\.proto$" "" name "${name}")
    add_custom_command(OUTPUT "${out}/${name}.pb.cc" "${out}/${name}.pb.h"
      COMMAND protobuf::protoc "--proto_path=${root}" "--cpp_out=${out}" "${proto}"
      DEPENDS ${protos} COMMENT "protoc ${name}.proto" VERBATIM)
    list(APPEND generated "${out}/${name}.pb.cc")
  endforeach()
  add_library(weir_api STATIC ${generated})
  target_compile_options(weir_api PRIVATE -w ${WEIR_COVERAGE})
  target_compile_features(weir_api PUBLIC cxx_std_20)
  target_include_directories(weir_api SYSTEM PUBLIC "${out}")
  target_link_libraries(weir_api PUBLIC protobuf::libprotobuf)
endfunction()

weir_api_library()

# HTTP/2 frames.
find_path(NGHTTP2_INCLUDE_DIR nghttp2/nghttp2.h REQUIRED)
find_library(NGHTTP2_LIBRARY nghttp2 REQUIRED)
add_library(nghttp2::nghttp2 UNKNOWN IMPORTED)
set_target_properties(nghttp2::nghttp2 PROPERTIES IMPORTED_LOCATION "${NGHTTP2_LIBRARY}"
                      INTERFACE_INCLUDE_DIRECTORIES "${NGHTTP2_INCLUDE_DIR}")
