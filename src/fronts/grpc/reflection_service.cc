#include "fronts/grpc/reflection_service.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/descriptor.pb.h>
#include <grpc/reflection/v1/reflection.pb.h>
#include <grpc/reflection/v1alpha/reflection.pb.h>

#include <memory>
#include <set>

#include "fronts/grpc/parse_message.h"

namespace weir {
namespace {

using ::google::protobuf::DescriptorPool;
using ::google::protobuf::FileDescriptor;
using ::google::protobuf::FileDescriptorProto;
using ::grpc::reflection::v1::ErrorResponse;
using ::grpc::reflection::v1::FileDescriptorResponse;
using ::grpc::reflection::v1::ServerReflectionRequest;
using ::grpc::reflection::v1::ServerReflectionResponse;

using Services = std::shared_ptr<const std::vector<std::string>>;

// The file and those that it needs, each once.
void AddFile(const FileDescriptor& file, std::set<const FileDescriptor*>& seen,
             FileDescriptorResponse& response) {
  if (!seen.insert(&file).second) return;
  FileDescriptorProto proto;
  file.CopyTo(&proto);
  proto.SerializeToString(response.add_file_descriptor_proto());
  for (int i = 0; i < file.dependency_count(); ++i) AddFile(*file.dependency(i), seen, response);
}

void SetError(GrpcCode code, const std::string& message, ErrorResponse& error) {
  error.set_error_code(static_cast<int>(code));
  error.set_error_message(message);
}

void AnswerFile(const FileDescriptor* file, ServerReflectionResponse& response) {
  if (file == nullptr) {
    SetError(GrpcCode::kNotFound, "there is no such file or symbol",
             *response.mutable_error_response());
    return;
  }
  std::set<const FileDescriptor*> seen;
  AddFile(*file, seen, *response.mutable_file_descriptor_response());
}

class Reflection : public StreamingCall {
 public:
  Reflection(Services services, CallStream& stream)
      : services_(std::move(services)), stream_(stream) {}

  void OnMessage(std::string_view bytes, const CallContext&) override {
    ServerReflectionResponse response;
    ServerReflectionRequest& request = *response.mutable_original_request();
    if (!ParseMessage(bytes, request)) {
      stream_.Finish({GrpcCode::kInvalidArgument, "the message is not a ServerReflectionRequest"});
      return;
    }
    response.set_valid_host(request.host());
    Answer(request, response);
    stream_.Write(response.SerializeAsString());
  }
  void OnHalfClose(const CallContext&) override { stream_.Finish({}); }

 private:
  void Answer(const ServerReflectionRequest& request, ServerReflectionResponse& response) const {
    const DescriptorPool& pool = *DescriptorPool::generated_pool();
    switch (request.message_request_case()) {
      case ServerReflectionRequest::kFileByFilename:
        AnswerFile(pool.FindFileByName(request.file_by_filename()), response);
        return;
      case ServerReflectionRequest::kFileContainingSymbol:
        AnswerFile(pool.FindFileContainingSymbol(request.file_containing_symbol()), response);
        return;
      case ServerReflectionRequest::kListServices:
        for (const std::string& service : *services_) {
          response.mutable_list_services_response()->add_service()->set_name(service);
        }
        return;
      case ServerReflectionRequest::kFileContainingExtension:
      case ServerReflectionRequest::kAllExtensionNumbersOfType:
        SetError(GrpcCode::kNotFound, "there are no extensions",
                 *response.mutable_error_response());
        return;
      case ServerReflectionRequest::MESSAGE_REQUEST_NOT_SET: break;
    }
    SetError(GrpcCode::kInvalidArgument, "no request that is known",
             *response.mutable_error_response());
  }

  const Services services_;
  CallStream& stream_;
};

}  // namespace

void AddReflectionService(MethodTable& methods) {
  // The linker leaves out what nobody names.
  ::grpc::reflection::v1alpha::ServerReflectionRequest::descriptor();
  const auto services = std::make_shared<std::vector<std::string>>();
  for (const std::string version : {"v1", "v1alpha"}) {
    methods.AddStreaming(
        "/grpc.reflection." + version + ".ServerReflection/ServerReflectionInfo",
        [services](CallStream& stream, const CallContext&) {
          return std::make_unique<Reflection>(services, stream);
        },
        Operation::kDescribe);
  }
  *services = methods.Services();
}

}  // namespace weir
