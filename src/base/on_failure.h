// What a limit does when the store that decides it is away, too slow or full.
#pragma once

#include <cstdint>

namespace weir {

enum class OnFailure : uint8_t {
  kAllow,  // it does not refuse
  kDeny,   // the request is answered `unavailable`; nothing of it is charged
  kLocal,  // this process's memory decides it meanwhile
};

}  // namespace weir
