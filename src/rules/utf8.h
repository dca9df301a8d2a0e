// Is it text?
#pragma once

#include <cstddef>
#include <string_view>

namespace weir {

// The place of the first byte that is not part of well-formed UTF-8, or that is a control character
// other than tab and line end; the size if there is none.
size_t FirstBadByte(std::string_view text);

}  // namespace weir
