#include "weir/client/wire.h"

namespace weir::client {

const Value* Value::Field(std::string_view name) const {
  if (kind != Kind::kList) return nullptr;
  for (size_t i = 0; i + 1 < list.size(); i += 2) {
    if (list[i].kind == Kind::kText && list[i].text == name) return &list[i + 1];
  }
  return nullptr;
}

}  // namespace weir::client
