#include "server/routes/openapi_schemas.h"

#include <envoy/service/ratelimit/v3/rls.pb.h>
#include <google/protobuf/descriptor.h>

#include "fronts/http/answer_fields.h"
#include "fronts/http/body_fields.h"
#include "rules/read/schema.h"

namespace weir {
namespace openapi_schemas {
namespace {

using OrderedJson = nlohmann::ordered_json;
using http::AnswerType;
using http::FieldType;

constexpr std::string_view kSchemas = "#/components/schemas/";
constexpr std::string_view kTicketForm = "^[0-9a-f]{32}$";

OrderedJson Whole(int64_t least) { return {{"type", "integer"}, {"minimum", least}}; }
OrderedJson OrNull(const char* type) { return {{"type", {type, "null"}}}; }
OrderedJson ListOf(OrderedJson items) { return {{"type", "array"}, {"items", std::move(items)}}; }

OrderedJson SchemaOf(FieldType type) {
  switch (type) {
    case FieldType::kString: return {{"type", "string"}};
    case FieldType::kNumber:
    case FieldType::kMillis: return Whole(0);
    case FieldType::kPositive: return Whole(1);
    case FieldType::kTicket: return {{"type", "string"}, {"pattern", kTicketForm}};
    case FieldType::kBool: return {{"type", "boolean"}};
  }
  __builtin_unreachable();
}

OrderedJson SchemaOf(const http::AnswerField& field) {
  switch (field.type) {
    case AnswerType::kBool: return {{"type", "boolean"}};
    case AnswerType::kNumber: return Whole(0);
    case AnswerType::kNumberOrNull: return {{"type", {"integer", "null"}}, {"minimum", 0}};
    case AnswerType::kMillis: return Whole(-1);
    case AnswerType::kFractionOrNull: return OrNull("number");
    case AnswerType::kString: return {{"type", "string"}};
    case AnswerType::kStringOrNull: return OrNull("string");
    case AnswerType::kTicket: return {{"type", "string"}, {"pattern", kTicketForm}};
    case AnswerType::kTicketOrNull: return {{"type", {"string", "null"}}, {"pattern", kTicketForm}};
    case AnswerType::kStrings: return ListOf({{"type", "string"}});
    case AnswerType::kNumbers: return ListOf(Whole(0));
    case AnswerType::kCounts: return {{"type", "object"}, {"additionalProperties", Whole(0)}};
    case AnswerType::kAny: return OrderedJson::object();
    case AnswerType::kObject: return SchemaRef(field.of);
    case AnswerType::kList: return ListOf(SchemaRef(field.of));
  }
  __builtin_unreachable();
}

// An object, of fields that are added one by one.
class ObjectSchema {
 public:
  void Add(std::string_view name, OrderedJson schema, std::string_view about, bool required) {
    if (!about.empty()) schema["description"] = about;
    properties_[std::string(name)] = std::move(schema);
    if (required) required_.push_back(name);
  }
  OrderedJson Finish() && {
    OrderedJson schema = {{"type", "object"}};
    if (!required_.empty()) schema["required"] = std::move(required_);
    schema["properties"] = std::move(properties_);
    return schema;
  }

 private:
  OrderedJson properties_ = OrderedJson::object(), required_ = OrderedJson::array();
};

// A body with another field is refused.
OrderedJson BodySchema(std::span<const http::BodyField> fields) {
  ObjectSchema object;
  for (const http::BodyField& field : fields) {
    object.Add(field.name, SchemaOf(field.type), field.about, field.required);
  }
  OrderedJson schema = std::move(object).Finish();
  schema["additionalProperties"] = false;
  return schema;
}

OrderedJson AnswerSchema(const http::AnswerObject& answer) {
  ObjectSchema object;
  for (const auto& fields : {answer.fields, answer.more}) {
    for (const http::AnswerField& field : fields) {
      object.Add(field.name, SchemaOf(field), field.about, !field.optional);
    }
  }
  return std::move(object).Finish();
}

OrderedJson ScalarSchema(const google::protobuf::FieldDescriptor& field) {
  using google::protobuf::FieldDescriptor;
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_BOOL: return {{"type", "boolean"}};
    case FieldDescriptor::CPPTYPE_INT32:
    case FieldDescriptor::CPPTYPE_UINT32: return {{"type", "integer"}};
    case FieldDescriptor::CPPTYPE_INT64:  // text, for numbers lose digits above 2^53
    case FieldDescriptor::CPPTYPE_UINT64: return {{"type", {"string", "integer"}}};
    case FieldDescriptor::CPPTYPE_DOUBLE:
    case FieldDescriptor::CPPTYPE_FLOAT: return {{"type", "number"}};
    case FieldDescriptor::CPPTYPE_ENUM: {
      OrderedJson names = OrderedJson::array();
      for (int i = 0; i < field.enum_type()->value_count(); ++i) {
        names.push_back(field.enum_type()->value(i)->name());
      }
      return {{"type", "string"}, {"enum", names}};
    }
    default: return {{"type", "string"}};
  }
}

std::string SchemaName(const google::protobuf::Descriptor& message) {
  const auto* outer = message.containing_type();
  return (outer == nullptr ? "Envoy" : SchemaName(*outer)) + message.name();
}

// A message in proto3's JSON, with those that it holds.
void AddMessage(const google::protobuf::Descriptor& message, OrderedJson& schemas) {
  const std::string name = SchemaName(message);
  if (schemas.contains(name)) return;
  schemas[name] = nullptr;  // its place, and that it is being made
  ObjectSchema object;
  for (int i = 0; i < message.field_count(); ++i) {
    const google::protobuf::FieldDescriptor& field = *message.field(i);
    OrderedJson schema;
    if (field.message_type() == nullptr) {
      schema = ScalarSchema(field);
    } else if (field.message_type()->file()->package() == "google.protobuf") {
      // Struct and Any are objects, a duration is "1.5s", a wrapper is what it wraps.
      const std::string& known = field.message_type()->name();
      schema = known == "Struct" || known == "Any" ? OrderedJson{{"type", "object"}}
               : known == "Duration"               ? OrderedJson{{"type", "string"}}
                                                   : OrderedJson::object();
    } else {
      AddMessage(*field.message_type(), schemas);
      schema = SchemaRef(SchemaName(*field.message_type()));
    }
    if (field.is_repeated()) schema = ListOf(std::move(schema));
    object.Add(field.json_name(), std::move(schema), "", false);
  }
  schemas[name] = std::move(object).Finish();
}

OrderedJson ReadinessSchema() {
  ObjectSchema readiness;
  readiness.Add("ready", {{"type", "boolean"}}, "It can be asked for decisions", true);
  readiness.Add("problems", ListOf(SchemaRef("Problem")), "", true);
  return std::move(readiness).Finish();
}

OrderedJson All() {
  OrderedJson schemas = OrderedJson::object();
  schemas["RequestBody"] = BodySchema(http::kRequestFields);
  schemas["SettleBody"] = BodySchema(http::kSettleFields);
  schemas["SessionBody"] = BodySchema(http::kSessionFields);
  schemas["ReserveBody"] = BodySchema(http::kReserveFields);
  schemas["ReleaseBody"] = BodySchema(http::kReleaseFields);
  schemas["TransferBody"] = BodySchema(http::kTransferFields);
  schemas["SeizeBody"] = BodySchema(http::kSeizeFields);
  for (const http::AnswerObject& answer : http::kAnswerObjects) {
    schemas[std::string(answer.name)] = AnswerSchema(answer);
  }
  schemas["Readiness"] = ReadinessSchema();
  AddMessage(*envoy::service::ratelimit::v3::RateLimitRequest::descriptor(), schemas);
  AddMessage(*envoy::service::ratelimit::v3::RateLimitResponse::descriptor(), schemas);
  schemas.update(RuleSchemas(kSchemas));
  return schemas;
}

}  // namespace
}  // namespace openapi_schemas

nlohmann::ordered_json SchemaRef(std::string_view name) {
  return {{"$ref", std::string(openapi_schemas::kSchemas) + std::string(name)}};
}

nlohmann::ordered_json ApiSchemas() { return openapi_schemas::All(); }

}  // namespace weir
