// The gRPC front: the native service, Envoy's, health and reflection, on one port.
#pragma once

#include <memory>
#include <string_view>

#include "fronts/grpc/grpc_options.h"
#include "fronts/grpc/health_service.h"
#include "fronts/grpc/method_table.h"
#include "fronts/grpc/should_rate_limit.h"
#include "fronts/protocol.h"
#include "weir/limiter.h"

namespace weir {

struct GrpcFrontOptions {
  GrpcOptions connection = {};
  EnvoyOptions envoy = {};
};

class GrpcFront : public Front {
 public:
  // `limiter` outlives the front, and the front its connections.
  explicit GrpcFront(Limiter& limiter, const GrpcFrontOptions& options = {});

  std::string_view name() const override { return "grpc"; }
  std::string_view alpn() const override { return "h2"; }
  bool refuses_late() const override { return true; }
  std::unique_ptr<Protocol> Accept(Link& link) override;

  HealthBoard& health() { return health_; }
  const MethodTable& methods() const { return methods_; }

 private:
  const GrpcFrontOptions options_;
  HealthBoard health_;
  MethodTable methods_;
};

}  // namespace weir
