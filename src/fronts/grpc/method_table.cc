#include "fronts/grpc/method_table.h"

#include <algorithm>

namespace weir {

std::vector<std::string> MethodTable::Services() const {
  std::vector<std::string> services;
  for (const Method& method : methods_) {
    std::string service = method.path.substr(1, method.path.rfind('/') - 1);
    if (std::find(services.begin(), services.end(), service) == services.end()) {
      services.push_back(std::move(service));
    }
  }
  return services;
}

}  // namespace weir
