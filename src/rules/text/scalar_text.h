// Text as a scalar of YAML.
#pragma once

#include <string>
#include <string_view>

namespace weir {

// Plain where no reader of YAML could take it for anything else, otherwise in double quotes.
std::string PrintScalar(std::string_view text);

}  // namespace weir
