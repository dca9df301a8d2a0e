#include "clients/cpp/src/local_transfer.h"

#include <nlohmann/json.hpp>
#include <string_view>

namespace weir::client {
namespace {

constexpr std::string_view kPrefix = "local:";
constexpr std::string_view kDigits =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

std::string Base64(std::string_view bytes) {
  std::string out;
  for (size_t i = 0; i < bytes.size(); i += 3) {
    const size_t length = std::min<size_t>(3, bytes.size() - i);
    uint32_t bits = 0;
    for (size_t j = 0; j < 3; ++j) {
      bits = bits << 8 | (j < length ? static_cast<unsigned char>(bytes[i + j]) : 0u);
    }
    for (size_t j = 0; j < 4; ++j) {
      out.push_back(j <= length ? kDigits[bits >> (18 - 6 * j) & 63] : '=');
    }
  }
  return out;
}

std::optional<std::string> FromBase64(std::string_view text) {
  while (text.ends_with('=')) text.remove_suffix(1);
  std::string out;
  uint32_t bits = 0;
  int count = 0;
  for (const char c : text) {
    const size_t digit = kDigits.find(c);
    if (digit == std::string_view::npos) return std::nullopt;
    bits = bits << 6 | static_cast<uint32_t>(digit);
    count += 6;
    if (count < 8) continue;
    count -= 8;
    out.push_back(static_cast<char>(bits >> count & 0xff));
  }
  return out;
}

}  // namespace

std::string WriteLocalTransfer(const LocalTransfer& transfer) {
  const Target& target = transfer.target;
  const nlohmann::json json = {target.namespace_name, target.resource, target.subject,
                               transfer.copies};
  constexpr auto kReplace = nlohmann::json::error_handler_t::replace;
  return std::string(kPrefix) + Base64(json.dump(-1, ' ', true, kReplace));
}

std::optional<LocalTransfer> ReadLocalTransfer(const std::string& text) {
  if (!text.starts_with(kPrefix)) return std::nullopt;
  const std::optional<std::string> bytes = FromBase64(text.substr(kPrefix.size()));
  const nlohmann::json json = nlohmann::json::parse(bytes.value_or(""), nullptr, false);
  if (!json.is_array() || json.size() != 4 || !json[0].is_string() || !json[1].is_string() ||
      !json[2].is_string() || !json[3].is_number_unsigned()) {
    throw Error(Code::kUnknownTransfer, text);
  }
  return LocalTransfer{
      {json[0].get<std::string>(), json[1].get<std::string>(), json[2].get<std::string>()},
      json[3].get<uint64_t>()};
}

}  // namespace weir::client
