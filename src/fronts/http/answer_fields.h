// The fields of the answers in JSON, one table for each kind of object: the description of the API
// (server/routes/openapi.cc) is made of them. The answers themselves are written by hand (json_out.cc, and the
// routes of the server); tests/openapi/ holds real ones to these tables, with no field more or less.
#pragma once

#include <span>
#include <string_view>

namespace weir::http {

enum class AnswerType {
  kBool,
  kNumber,          // whole, from 0
  kNumberOrNull,    // null: nothing limits
  kMillis,          // whole; -1: never
  kFractionOrNull,  // null: not known
  kString,
  kStringOrNull,
  kTicket,
  kTicketOrNull,
  kStrings,
  kNumbers,  // a list
  kCounts,   // numbers by name
  kAny,
  kObject,  // of the kind `of`
  kList,    // a list of such
};

struct AnswerField {
  std::string_view name;
  AnswerType type;
  std::string_view of = {};
  std::string_view about = {};
  bool optional = false;
};

struct AnswerObject {
  std::string_view name;
  std::span<const AnswerField> fields;
  std::span<const AnswerField> more = {};  // of a problem: what the answer would have
};

inline constexpr AnswerField kErrorFields[] = {
    {"code", AnswerType::kString, {}, "What a program reads"},
    {"message", AnswerType::kString, {}, "What a person reads"},
    {"field", AnswerType::kStringOrNull, {}, "The field, parameter or path at fault"}};
inline constexpr AnswerField kErrorAnswerFields[] = {{"error", AnswerType::kObject, "ErrorDetail"}};

inline constexpr AnswerField kLimitStatusFields[] = {
    {"name", AnswerType::kString},
    {"limit", AnswerType::kNumberOrNull},
    {"per_ms", AnswerType::kMillis},
    {"remaining", AnswerType::kNumberOrNull},
    {"reset_after_ms", AnswerType::kMillis, {}, "Until it is as if unused"},
    {"shadow", AnswerType::kBool, {}, "It counts, and never refuses", true},
    {"would_refuse", AnswerType::kBool, {}, "In shadow: if it were not", true}};

inline constexpr AnswerField kDecisionFields[] = {
    {"allowed", AnswerType::kBool},
    {"granted", AnswerType::kNumber},
    {"remaining", AnswerType::kNumberOrNull, {}, "Of the limit that decided"},
    {"retry_after_ms", AnswerType::kMillis, {}, "0: allowed; -1: waiting does not help"},
    {"reset_after_ms", AnswerType::kMillis},
    {"limit", AnswerType::kStringOrNull, {}, "The limit that decided"},
    {"ticket", AnswerType::kTicket, {}, "With settle", true},
    {"limits", AnswerType::kList, "LimitStatus"},
    {"tier", AnswerType::kNumber, {}, "Of burst tiers: the tier that is active", true},
    {"tier_limit", AnswerType::kNumberOrNull, {}, {}, true},
    {"tier_hits", AnswerType::kNumber, {}, {}, true},
    {"burst", AnswerType::kBool, {}, "The request entered a tier", true},
    {"hard_limit", AnswerType::kNumberOrNull, {}, {}, true},
    {"hard_limited", AnswerType::kBool, {}, {}, true},
    {"hits_last_second", AnswerType::kNumber, {}, {}, true},
    {"global_limit", AnswerType::kNumberOrNull, {}, {}, true},
    {"global_limited", AnswerType::kBool, {}, {}, true},
    {"global_hits_last_second", AnswerType::kNumber, {}, {}, true},
    {"degraded", AnswerType::kBool, {}, "A store was away: a limit's on_failure decided", true}};

// RFC 9457, as draft-ietf-httpapi-ratelimit-headers has it.
inline constexpr AnswerField kProblemFields[] = {
    {"type", AnswerType::kString},
    {"title", AnswerType::kString},
    {"status", AnswerType::kNumber},
    {"violated-policies", AnswerType::kStrings, {}, "The limits that refused"}};

inline constexpr AnswerField kSettledFields[] = {
    {"charged", AnswerType::kNumber, {}, "The final cost"},
    {"remaining", AnswerType::kNumberOrNull}};

inline constexpr AnswerField kSessionFieldsOut[] = {
    {"session", AnswerType::kTicket},
    {"ttl_ms", AnswerType::kMillis, {}, "When it was opened", true}};

inline constexpr AnswerField kGroupStatusFields[] = {{"name", AnswerType::kString},
                                                     {"limit", AnswerType::kNumberOrNull},
                                                     {"held", AnswerType::kNumber}};
inline constexpr AnswerField kReservationFields[] = {
    {"allowed", AnswerType::kBool},
    {"outcome", AnswerType::kString, {}, "granted, refused, timeout, done and others"},
    {"granted", AnswerType::kNumber},
    {"hold", AnswerType::kTicketOrNull, {}, "Names what is held"},
    {"held", AnswerType::kNumber, {}, "By the subject, with these"},
    {"per_subject", AnswerType::kNumberOrNull},
    {"held_total", AnswerType::kNumber},
    {"total", AnswerType::kNumberOrNull},
    {"groups", AnswerType::kList, "GroupStatus"}};
inline constexpr AnswerField kReleasedFields[] = {
    {"copies", AnswerType::kNumber, {}, "How many of the hold are left"}};
inline constexpr AnswerField kTransferredFields[] = {
    {"transfer", AnswerType::kTicket, {}, "Who has it can seize them"}};
inline constexpr AnswerField kSeizedFields[] = {
    {"hold", AnswerType::kTicket},     {"namespace", AnswerType::kString},
    {"resource", AnswerType::kString}, {"subject", AnswerType::kString},
    {"copies", AnswerType::kNumber},   {"groups", AnswerType::kStrings}};

// GET /v1/stats: of all, of a resource, of a subject.
inline constexpr AnswerField kLimitCountFields[] = {{"name", AnswerType::kString},
                                                    {"refused", AnswerType::kNumber},
                                                    {"would_refuse", AnswerType::kNumber}};
inline constexpr AnswerField kResourceCountFields[] = {
    {"namespace", AnswerType::kString}, {"resource", AnswerType::kString},
    {"admitted", AnswerType::kNumber},  {"refused", AnswerType::kNumber},
    {"cost", AnswerType::kNumber},      {"limits", AnswerType::kList, "LimitCounts"}};
inline constexpr AnswerField kTotalsFields[] = {{"resources", AnswerType::kList, "ResourceCounts"}};
inline constexpr AnswerField kCountFields[] = {{"admitted", AnswerType::kNumber},
                                               {"refused", AnswerType::kNumber},
                                               {"cost", AnswerType::kNumber}};
inline constexpr AnswerField kSeriesFields[] = {
    {"admitted", AnswerType::kNumbers, {}, "One for each second or minute, the oldest first"},
    {"refused", AnswerType::kNumbers},
    {"cost", AnswerType::kNumbers}};
inline constexpr AnswerField kSubjectCountFields[] = {{"subject", AnswerType::kString},
                                                      {"count", AnswerType::kNumber}};
inline constexpr AnswerField kResourceStatsFields[] = {
    {"namespace", AnswerType::kString},
    {"resource", AnswerType::kString},
    {"total", AnswerType::kObject, "Counts", {}, true},
    {"seconds", AnswerType::kObject, "Series", "The last minute"},
    {"minutes", AnswerType::kObject, "Series", "The last day"},
    {"busiest", AnswerType::kList, "SubjectCount"},
    {"most_refused", AnswerType::kList, "SubjectCount"},
    {"would_refuse", AnswerType::kList, "SubjectCount", "Whom limits in shadow would refuse most"}};
inline constexpr AnswerField kLimitUseFields[] = {{"name", AnswerType::kString},
                                                  {"algorithm", AnswerType::kString},
                                                  {"capacity", AnswerType::kNumberOrNull},
                                                  {"used", AnswerType::kNumber},
                                                  {"remaining", AnswerType::kNumberOrNull},
                                                  {"per_ms", AnswerType::kMillis},
                                                  {"reset_after_ms", AnswerType::kMillis},
                                                  {"refuses", AnswerType::kBool},
                                                  {"shadow", AnswerType::kBool},
                                                  {"accuracy", AnswerType::kString}};
inline constexpr AnswerField kHistoryFields[] = {{"seconds", AnswerType::kObject, "Series"},
                                                 {"minutes", AnswerType::kObject, "Series"}};
inline constexpr AnswerField kSubjectStatsFields[] = {
    {"namespace", AnswerType::kString},
    {"resource", AnswerType::kString},
    {"subject", AnswerType::kString},
    {"refused", AnswerType::kBool, {}, "A request of cost 1, now"},
    {"would_refuse", AnswerType::kBool, {}, "If no limit were in shadow"},
    {"why", AnswerType::kString},
    {"retry_after_ms", AnswerType::kMillis},
    {"limits", AnswerType::kList, "LimitUse"},
    {"estimated", AnswerType::kObject, "History", "Of subjects that ask often", true}};

// GET /v1/cluster.
inline constexpr AnswerField kPeerFields[] = {{"node", AnswerType::kString},
                                              {"address", AnswerType::kString},
                                              {"alive", AnswerType::kBool},
                                              {"incarnation", AnswerType::kNumber},
                                              {"last_heard_ms", AnswerType::kFractionOrNull},
                                              {"staleness_ms", AnswerType::kFractionOrNull},
                                              {"round_trip_ms", AnswerType::kFractionOrNull},
                                              {"bytes_in", AnswerType::kNumber},
                                              {"bytes_out", AnswerType::kNumber},
                                              {"datagrams_in", AnswerType::kNumber},
                                              {"datagrams_out", AnswerType::kNumber},
                                              {"rejected", AnswerType::kNumber}};
inline constexpr AnswerField kOpenProblemFields[] = {
    {"code", AnswerType::kString, {}, "What a program reads"},
    {"message", AnswerType::kString, {}, "What is wrong, and what to do"},
    {"since", AnswerType::kString, {}, "When it began"}};
inline constexpr AnswerField kClusterFields[] = {
    {"node", AnswerType::kString},
    {"address", AnswerType::kString},
    {"incarnation", AnswerType::kNumber},
    {"ready", AnswerType::kBool},
    {"peers", AnswerType::kList, "Peer"},
    {"problems", AnswerType::kList, "Problem"},
    {"names", AnswerType::kCounts, {}, "Others that came under a name that is taken"},
    {"rejected", AnswerType::kCounts, {}, "Datagrams, by reason"},
    {"copies", AnswerType::kCounts, {}, "Of whole states"},
    {"questions", AnswerType::kCounts, {}, "Tickets of other nodes"},
    {"adhoc_coordination", AnswerType::kString},
    {"ratelimit_coordination", AnswerType::kString},
    {"warnings", AnswerType::kStrings, {}, "Limits that are per node"}};

// The configuration.
inline constexpr AnswerField kNormalisationFields[] = {{"path", AnswerType::kString},
                                                       {"from", AnswerType::kString},
                                                       {"to", AnswerType::kString},
                                                       {"why", AnswerType::kString}};
inline constexpr AnswerField kWrittenFields[] = {
    {"version", AnswerType::kNumber},
    {"value", AnswerType::kAny, {}, "As it is stored"},
    {"normalised", AnswerType::kList, "Normalisation"}};
inline constexpr AnswerField kChangeFields[] = {
    {"namespace", AnswerType::kString},
    {"value", AnswerType::kAny, {}, "A Namespace; null: it was deleted"}};
inline constexpr AnswerField kChangesFields[] = {
    {"version", AnswerType::kNumber},
    {"full", AnswerType::kBool, {}, "These are all namespaces"},
    {"changes", AnswerType::kList, "Change"}};
inline constexpr AnswerField kAuditEntryFields[] = {
    {"version", AnswerType::kNumber}, {"at_ms", AnswerType::kNumber},
    {"who", AnswerType::kString},     {"namespace", AnswerType::kString},
    {"path", AnswerType::kString},    {"before", AnswerType::kAny},
    {"after", AnswerType::kAny}};
inline constexpr AnswerField kAuditFields[] = {
    {"version", AnswerType::kNumber},
    {"entries", AnswerType::kList, "AuditEntry"},
    {"next", AnswerType::kStringOrNull, {}, "Where the next page is"}};

inline constexpr AnswerObject kAnswerObjects[] = {
    {"Error", kErrorAnswerFields},
    {"ErrorDetail", kErrorFields},
    {"Decision", kDecisionFields},
    {"LimitStatus", kLimitStatusFields},
    {"Refusal", kProblemFields, kDecisionFields},
    {"Settled", kSettledFields},
    {"Session", kSessionFieldsOut},
    {"Reservation", kReservationFields},
    {"GroupStatus", kGroupStatusFields},
    {"ReservationRefusal", kProblemFields, kReservationFields},
    {"Released", kReleasedFields},
    {"Transferred", kTransferredFields},
    {"Seized", kSeizedFields},
    {"Totals", kTotalsFields},
    {"ResourceCounts", kResourceCountFields},
    {"LimitCounts", kLimitCountFields},
    {"ResourceStats", kResourceStatsFields},
    {"Counts", kCountFields},
    {"Series", kSeriesFields},
    {"SubjectCount", kSubjectCountFields},
    {"SubjectStats", kSubjectStatsFields},
    {"LimitUse", kLimitUseFields},
    {"History", kHistoryFields},
    {"Cluster", kClusterFields},
    {"Peer", kPeerFields},
    {"Problem", kOpenProblemFields},
    {"Written", kWrittenFields},
    {"Normalisation", kNormalisationFields},
    {"Changes", kChangesFields},
    {"Change", kChangeFields},
    {"Audit", kAuditFields},
    {"AuditEntry", kAuditEntryFields},
};

}  // namespace weir::http
