#include "fronts/envoy/dynamic_metadata.h"

namespace weir {
namespace {

using google::protobuf::Struct;
using google::protobuf::Value;

struct SetValue {
  Value& out;

  void operator()(std::monostate) const { out.set_null_value(google::protobuf::NULL_VALUE); }
  void operator()(bool value) const { out.set_bool_value(value); }
  void operator()(double value) const { out.set_number_value(value); }
  void operator()(const std::string& value) const { out.set_string_value(value); }
  void operator()(const Metadata::List& values) const {
    for (const Metadata& value : values) {
      std::visit(SetValue{*out.mutable_list_value()->add_values()}, value.value);
    }
    out.mutable_list_value();  // an empty list is one too
  }
  void operator()(const Metadata::Map& members) const;
};

void SetMembers(const Metadata::Map& members, Struct& out) {
  for (const MetadataMember& member : members) {
    std::visit(SetValue{(*out.mutable_fields())[member.key]}, member.value.value);
  }
}

void SetValue::operator()(const Metadata::Map& members) const {
  out.mutable_struct_value()->clear_fields();
  SetMembers(members, *out.mutable_struct_value());
}

}  // namespace

void MergeMetadata(const Metadata& metadata, Struct& out) {
  if (const auto* members = std::get_if<Metadata::Map>(&metadata.value)) SetMembers(*members, out);
}

}  // namespace weir
