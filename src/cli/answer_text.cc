#include "cli/answer_text.h"

#include "base/plain_text.h"
#include "base/terminal.h"
#include "base/time_text.h"

namespace weir {
namespace {

std::string Count(uint64_t n) { return n == UINT64_MAX ? "unlimited" : std::to_string(n); }

std::string Time(Duration time, AnswerStyle style) {
  constexpr Duration kMilli = std::chrono::milliseconds(1);
  if (style.rounded && time < kNever - kMilli && time % kMilli != Duration::zero()) {
    time += kMilli - time % kMilli;
  }
  return DurationText(time);
}

std::string Painted(std::string_view word, Ink ink, AnswerStyle style) {
  return Terminal::Painted(ink, PlainFormat("{:<8}", word), style.colours);
}

std::string Verdict(bool good, std::string_view yes, std::string_view no, AnswerStyle style) {
  return good ? Painted(yes, Ink::kGreen, style) : Painted(no, Ink::kRed, style);
}

std::string TiersText(const TierStatus& tiers) {
  std::string text =
      PlainFormat("  tier {} ({}/{})", tiers.tier, tiers.tier_hits, tiers.tier_limit);
  if (tiers.burst) text += " burst";
  if (tiers.hard_limited) text += " hard-limited";
  if (tiers.global_limited) text += " global-limited";
  return text;
}

std::string ShadowText(const Decision& decision) {
  std::string text;
  for (const LimitStatus& limit : decision.limits()) {
    if (limit.shadow && limit.refused) text += PlainFormat("  shadow {} would refuse", limit.name);
  }
  return text;
}

}  // namespace

std::string DecisionText(const Decision& decision, size_t ticket, AnswerStyle style) {
  if (decision.error != Code::kOk) return ErrorText(decision.error, decision.message, style);
  std::string text = Verdict(decision.allowed, "allowed", "refused", style);
  text += PlainFormat(
      " granted {:<5} remaining {:<9} retry {:<11} reset {:<11} limit {}", decision.granted,
      Count(decision.remaining), decision.allowed ? "-" : Time(decision.retry_after, style),
      Time(decision.reset_after, style), decision.limit.empty() ? "-" : decision.limit);
  if (decision.tiers) text += TiersText(*decision.tiers);
  text += ShadowText(decision);
  if (ticket != 0) text += PlainFormat("  ticket #{}", ticket);
  return text;
}

std::string LimitsText(const Decision& decision, AnswerStyle style) {
  std::string text;
  for (const LimitStatus& limit : decision.limits()) {
    if (!text.empty()) text += "\n";
    const std::string most =
        limit.per == Duration::zero()
            ? Count(limit.limit)
            : PlainFormat("{} per {}", Count(limit.limit), DurationText(limit.per));
    text += PlainFormat("  {:<12} {:<20} remaining {:<9} reset {}", limit.name, most,
                        Count(limit.remaining), Time(limit.reset_after, style));
    if (limit.shadow) text += "  shadow";
    if (limit.refused) text += "  refuses";
  }
  return text.empty() ? "  no limit applies" : text;
}

std::string ReservationText(const Reservation& reservation, size_t hold, AnswerStyle style) {
  std::string text = Verdict(reservation.allowed, "granted", "refused", style);
  text +=
      PlainFormat(" copies {:<4} held {}/{}  total {}/{}", reservation.granted, reservation.held,
                  Count(reservation.per_subject), reservation.held_total, Count(reservation.total));
  for (const GroupStatus& group : reservation.groups) {
    text += PlainFormat("  group {} {}/{}", group.name, group.held, Count(group.limit));
  }
  if (hold != 0) text += PlainFormat("  hold #{}", hold);
  return text;
}

std::string SeizedText(const Seized& seized, size_t hold) {
  std::string text = PlainFormat("seized   copies {:<4} of {} {} {}", seized.copies,
                                 seized.namespace_name, seized.resource, seized.subject);
  for (const std::string& group : seized.groups) text += PlainFormat("  group {}", group);
  return text + PlainFormat("  hold #{}", hold);
}

std::string SettledText(const Settled& settled) {
  return PlainFormat("settled  charged {:<5} remaining {}", settled.charged,
                     Count(settled.remaining));
}

std::string ErrorText(Code code, std::string_view message, AnswerStyle style) {
  std::string text = Painted("error", Ink::kYellow, style) + " " + std::string(CodeName(code));
  if (!message.empty()) text += PlainFormat(": {}", message);
  return text;
}

}  // namespace weir
