# weir_embed(TARGET FILE SYMBOL): FILE as `extern const char SYMBOL[]` with SYMBOL_size, in TARGET.
function(weir_embed target file symbol)
  set(out "${PROJECT_BINARY_DIR}/embedded/${symbol}.cc")
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${file}")
  file(READ "${file}" bytes HEX)
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "'\\\\x\\1'," bytes "${bytes}")
  file(CONFIGURE OUTPUT "${out}" @ONLY CONTENT
"#include <cstddef>
namespace weir {
extern const char @symbol@[] = {@bytes@'\\0'};
extern const std::size_t @symbol@_size = sizeof @symbol@ - 1;
}  // namespace weir
")
  target_sources(${target} PRIVATE "${out}")
endfunction()
