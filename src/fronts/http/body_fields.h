// The fields of the bodies that the native API takes: json_request.cc reads by these tables, and the
// description of the API (server/routes/openapi.cc) is made of them.
#pragma once

#include <string_view>

namespace weir::http {

enum class FieldType {
  kString,
  kNumber,    // whole, from 0
  kPositive,  // whole, from 1
  kMillis,    // the same as kNumber, a length of time
  kTicket,    // 32 hexadecimal digits
  kBool,
};

struct BodyField {
  std::string_view name;
  FieldType type;
  bool required = false;
  std::string_view about = {};
};

inline constexpr BodyField kRequestFields[] = {
    {"namespace", FieldType::kString, true},
    {"resource", FieldType::kString, true},
    {"subject", FieldType::kString, true, "Who asks: any text"},
    {"cost", FieldType::kNumber, false, "How much it takes; 1 unless it is given"},
    {"min_cost", FieldType::kNumber, false,
     "Grant as little as this; the cost, unless it is given"},
    {"settle", FieldType::kBool, false, "The true cost will be told with /v1/settle"}};

inline constexpr BodyField kSettleFields[] = {
    {"ticket", FieldType::kTicket, true, "From the answer to a request with settle"},
    {"cost", FieldType::kNumber, true, "The true cost"}};

inline constexpr BodyField kReserveFields[] = {
    {"session", FieldType::kTicket, true, "Who holds; it ends, and the copies are released"},
    {"namespace", FieldType::kString, true},
    {"resource", FieldType::kString, true},
    {"subject", FieldType::kString, true},
    {"copies", FieldType::kPositive, false, "1 unless it is given"},
    {"min_copies", FieldType::kNumber, false,
     "Grant as few as this; all copies, unless it is given"},
    {"wait_ms", FieldType::kMillis, false, "How long to wait for room"},
    {"max_queue", FieldType::kNumber, false, "Do not wait behind more than this many"},
    {"share", FieldType::kBool, false,
     "Be told when another of the same subject has done the work"}};

inline constexpr BodyField kReleaseFields[] = {
    {"session", FieldType::kTicket, true},
    {"hold", FieldType::kTicket, true},
    {"copies", FieldType::kPositive, false, "All, unless it is given"}};

inline constexpr BodyField kTransferFields[] = {
    {"session", FieldType::kTicket, true},
    {"hold", FieldType::kTicket, true},
    {"ttl_ms", FieldType::kPositive, true, "How long it can be seized"},
    {"copies", FieldType::kPositive, false, "All, unless it is given"}};

inline constexpr BodyField kSeizeFields[] = {{"session", FieldType::kTicket, true},
                                             {"transfer", FieldType::kTicket, true}};

inline constexpr BodyField kSessionFields[] = {
    {"ttl_ms", FieldType::kMillis, false,
     "How long it lives unless it is renewed: 1000 to 3600000; 15000 unless it is given"}};

}  // namespace weir::http
