// Health and reflection.
#include <google/protobuf/descriptor.pb.h>
#include <grpc/health/v1/health.pb.h>
#include <grpc/reflection/v1/reflection.pb.h>
#include <gtest/gtest.h>

#include <set>

#include "tests/fronts/grpc_client.h"

namespace weir::testing::grpc_services_test {
namespace {

using ::grpc::health::v1::HealthCheckRequest;
using ::grpc::health::v1::HealthCheckResponse;
using ::grpc::reflection::v1::ServerReflectionRequest;
using ::grpc::reflection::v1::ServerReflectionResponse;

constexpr std::string_view kRules = "namespaces: {n: {resources: {}}}";
const std::string kCheck = "/grpc.health.v1.Health/Check";
const std::string kWatch = "/grpc.health.v1.Health/Watch";

std::string About(const std::string& service) {
  HealthCheckRequest request;
  request.set_service(service);
  return request.SerializeAsString();
}

std::vector<int> Statuses(const ClientCall& call) {
  std::vector<int> statuses;
  for (const std::string& message : call.messages()) {
    HealthCheckResponse response;
    EXPECT_TRUE(response.ParseFromString(message));
    statuses.push_back(response.status());
  }
  return statuses;
}

TEST(GrpcHealth, ChecksTheServerAndItsServices) {
  GrpcRig rig(Rules(kRules));
  for (const char* service : {"", "weir.v1.Limiter", "grpc.health.v1.Health",
                              "envoy.service.ratelimit.v3.RateLimitService"}) {
    EXPECT_EQ(Statuses(rig.client.Call(kCheck, About(service))), (std::vector<int>{1})) << service;
  }
  EXPECT_EQ(rig.client.Call(kCheck, About("nobody")).status(), "5");
  rig.front.health().SetServing(false);
  EXPECT_EQ(Statuses(rig.client.Call(kCheck, About(""))), (std::vector<int>{2}));
}

TEST(GrpcHealth, WatchTellsAtOnceAndAtEveryChange) {
  GrpcRig rig(Rules(kRules));
  const int32_t stream = rig.client.Open(kWatch);
  rig.client.Send(stream, Framed(About("weir.v1.Limiter")), true);
  rig.client.Exchange();
  EXPECT_EQ(Statuses(rig.client[stream]), (std::vector<int>{1}));
  EXPECT_FALSE(rig.client[stream].ended);
  EXPECT_FALSE(rig.protocol->idle());

  rig.front.health().SetServing(false);
  ASSERT_TRUE(rig.link.executor().has_posted());
  rig.link.RunPosted();
  EXPECT_EQ(rig.link.flushes, 1);
  rig.client.Exchange();
  EXPECT_EQ(Statuses(rig.client[stream]), (std::vector<int>{1, 2}));
}

TEST(GrpcHealth, AChangeThatComesAfterTheCallEndedIsForgotten) {
  GrpcRig rig(Rules(kRules));
  const int32_t stream = rig.client.Open(kWatch);
  rig.client.Send(stream, Framed(About("")), false);
  rig.client.Exchange();
  rig.front.health().SetServing(false);
  rig.client.Reset(stream);
  rig.client.Exchange();
  ASSERT_TRUE(rig.link.executor().has_posted());
  rig.link.RunPosted();
  rig.front.health().SetServing(true);
  EXPECT_FALSE(rig.link.executor().has_posted());
  EXPECT_EQ(rig.link.flushes, 0);

  rig.client.Open(kWatch);
  rig.client.Exchange();
  rig.protocol.reset();
  rig.front.health().SetServing(false);
}

TEST(GrpcHealth, WatchOfAnUnknownServiceWaitsForIt) {
  GrpcRig rig(Rules(kRules));
  const int32_t stream = rig.client.Open(kWatch);
  rig.client.Send(stream, Framed(About("nobody")), false);
  rig.client.Exchange();
  EXPECT_EQ(Statuses(rig.client[stream]), (std::vector<int>{3}));
  EXPECT_FALSE(rig.client[stream].ended);
}

ServerReflectionResponse Reflect(GrpcRig& rig, const ServerReflectionRequest& request,
                                 const std::string& version = "v1") {
  ServerReflectionResponse response;
  const ClientCall& call =
      rig.client.Call("/grpc.reflection." + version + ".ServerReflection/ServerReflectionInfo",
                      request.SerializeAsString());
  EXPECT_EQ(call.status(), "0");
  EXPECT_EQ(call.messages().size(), 1u);
  EXPECT_TRUE(response.ParseFromString(call.messages().at(0)));
  return response;
}

std::set<std::string> Files(const ServerReflectionResponse& response) {
  std::set<std::string> names;
  for (const std::string& bytes : response.file_descriptor_response().file_descriptor_proto()) {
    google::protobuf::FileDescriptorProto file;
    EXPECT_TRUE(file.ParseFromString(bytes));
    names.insert(file.name());
  }
  return names;
}

TEST(GrpcReflection, ListsEveryServiceInBothVersions) {
  GrpcRig rig(Rules(kRules));
  ServerReflectionRequest request;
  request.set_host("weir");
  request.set_list_services("*");
  for (const char* version : {"v1", "v1alpha"}) {
    std::set<std::string> names;
    const ServerReflectionResponse response = Reflect(rig, request, version);
    EXPECT_EQ(response.original_request().host(), "weir");
    for (const auto& service : response.list_services_response().service()) {
      names.insert(service.name());
    }
    EXPECT_EQ(names, (std::set<std::string>{"envoy.service.ratelimit.v3.RateLimitService",
                                            "weir.v1.Limiter", "grpc.health.v1.Health",
                                            "grpc.reflection.v1.ServerReflection",
                                            "grpc.reflection.v1alpha.ServerReflection"}));
    for (const std::string& name : names) {
      ServerReflectionRequest symbol;
      symbol.set_file_containing_symbol(name);
      EXPECT_FALSE(Files(Reflect(rig, symbol)).empty()) << name;
    }
  }
}

TEST(GrpcReflection, AFileComesWithThoseThatItNeeds) {
  GrpcRig rig(Rules(kRules));
  ServerReflectionRequest request;
  request.set_file_by_filename("envoy/service/ratelimit/v3/rls.proto");
  const std::set<std::string> files = Files(Reflect(rig, request));
  for (const char* name :
       {"envoy/service/ratelimit/v3/rls.proto", "envoy/config/core/v3/base.proto",
        "envoy/extensions/common/ratelimit/v3/ratelimit.proto",
        "envoy/type/v3/ratelimit_unit.proto", "google/protobuf/duration.proto",
        "google/protobuf/struct.proto"}) {
    EXPECT_EQ(files.count(name), 1u) << name;
  }
}

TEST(GrpcReflection, WhatIsNotThereIsAnErrorAndTheStreamGoesOn) {
  GrpcRig rig(Rules(kRules));
  ServerReflectionRequest request;
  request.set_file_by_filename("no.proto");
  EXPECT_EQ(Reflect(rig, request).error_response().error_code(), 5);
  request.set_all_extension_numbers_of_type("weir.v1.Decision");
  EXPECT_EQ(Reflect(rig, request).error_response().error_code(), 5);
  request.Clear();
  EXPECT_EQ(Reflect(rig, request).error_response().error_code(), 3);
}

}  // namespace
}  // namespace weir::testing::grpc_services_test
