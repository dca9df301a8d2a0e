#include "fronts/grpc/grpc_front.h"

#include "fronts/grpc/http2_session.h"
#include "fronts/grpc/native_service.h"
#include "fronts/grpc/reflection_service.h"

namespace weir {

GrpcFront::GrpcFront(Limiter& limiter, const GrpcFrontOptions& options) : options_(options) {
  AddEnvoyService(methods_, limiter, options_.envoy);
  AddNativeService(methods_, limiter);
  AddHealthService(methods_, health_);
  AddReflectionService(methods_);
  health_.SetServices(methods_.Services());
}

std::unique_ptr<Protocol> GrpcFront::Accept(Link& link) {
  return std::make_unique<Http2Session>(link, methods_, options_.connection);
}

}  // namespace weir
