#include "tests/e2e/hold_session.h"

#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <vector>

#include "tests/e2e/server_process.h"

namespace weir::e2e {
namespace {

using Millis = HoldSession::Millis;
using Json = nlohmann::json;

std::string Text(uint64_t n) { return std::to_string(n); }
std::string Text(Millis time) { return std::to_string(time.count()); }

std::vector<std::string> Lines(const std::string& text) {
  std::vector<std::string> lines;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find("\r\n", at), text.size());
    lines.push_back(text.substr(at, end - at));
    at = end + 2;
  }
  return lines;
}

class RespSession : public HoldSession {
 public:
  explicit RespSession(int port) : socket_(port) {}
  bool connected() const { return socket_.connected(); }

  HoldAnswer Reserve(const std::string& subject, uint64_t copies, uint64_t least,
                     Millis wait) override {
    return Ask("WEIR.RESERVE n box " + subject + " COPIES " + Text(copies) + " MIN " + Text(least) +
               " WAIT " + Text(wait));
  }
  HoldAnswer Release(const std::string& hold, uint64_t copies) override {
    return Ask("WEIR.RELEASE " + hold + " COPIES " + Text(copies));
  }
  HoldAnswer Transfer(const std::string& hold, uint64_t copies, Millis ttl) override {
    return Ask("WEIR.TRANSFER " + hold + " COPIES " + Text(copies) + " TTL " + Text(ttl));
  }
  HoldAnswer Seize(const std::string& transfer) override { return Ask("WEIR.SEIZE " + transfer); }
  HoldAnswer Renew() override { return Ask("PING"); }

 private:
  // The answer ends where the one to the ECHO behind it does.
  HoldAnswer Ask(const std::string& command) {
    HoldAnswer answer;
    if (!socket_.Send(command + "\r\nECHO end-of-answer\r\n")) return answer;
    answer.text = socket_.ReadUntil("end-of-answer\r\n");
    if (!answer.text.ends_with("end-of-answer\r\n")) return answer;
    Read(answer);
    return answer;
  }
  static void Read(HoldAnswer& answer) {
    answer.kind = answer.text[0] == '-' ? HoldAnswer::kError : HoldAnswer::kYes;
    const std::vector<std::string> lines = Lines(answer.text);
    for (size_t i = 0; i + 2 < lines.size(); ++i) {
      const std::string& field = lines[i];
      const bool number = lines[i + 1][0] == ':';
      const uint64_t value = number ? std::strtoull(&lines[i + 1][1], nullptr, 10) : 0;
      if (number) answer.greatest = std::max(answer.greatest, value);
      if (field == "allowed" && value == 0) answer.kind = HoldAnswer::kNo;
      if (field == "granted" || field == "copies") answer.copies = value;
      if (field == "subject") answer.subject = lines[i + 2];
      if (field == "hold" || field == "transfer") answer.name = lines[i + 2];
    }
  }

  Socket socket_;
};

class HttpSession : public HoldSession {
 public:
  HttpSession(int port, Millis ttl) : port_(port) {
    const HoldAnswer answer = Ask("/v1/session", {{"ttl_ms", ttl.count()}});
    if (answer.kind == HoldAnswer::kYes) id_ = answer.name;
  }
  bool open() const { return !id_.empty(); }

  HoldAnswer Reserve(const std::string& subject, uint64_t copies, uint64_t least,
                     Millis wait) override {
    return Ask("/v1/reserve", {{"namespace", "n"},
                               {"resource", "box"},
                               {"subject", subject},
                               {"copies", copies},
                               {"min_copies", least},
                               {"wait_ms", wait.count()}});
  }
  HoldAnswer Release(const std::string& hold, uint64_t copies) override {
    return Ask("/v1/release", {{"hold", hold}, {"copies", copies}});
  }
  HoldAnswer Transfer(const std::string& hold, uint64_t copies, Millis ttl) override {
    return Ask("/v1/transfer", {{"hold", hold}, {"copies", copies}, {"ttl_ms", ttl.count()}});
  }
  HoldAnswer Seize(const std::string& transfer) override {
    return Ask("/v1/seize", {{"transfer", transfer}});
  }
  HoldAnswer Renew() override { return Ask("/v1/session/" + id_, Json::object()); }

 private:
  HoldAnswer Ask(const std::string& path, Json asked) {
    HoldAnswer answer;
    if (path.find("/session") == std::string::npos) asked["session"] = id_;
    const std::string body = asked.empty() ? "" : asked.dump();
    Socket socket(port_);
    if (!socket.connected()) return answer;
    socket.Send("POST " + path + " HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: " +
                Text(body.size()) + "\r\n\r\n" + body);
    answer.text = socket.ReadAll();
    const size_t at = answer.text.find("\r\n\r\n");
    if (at == std::string::npos) return answer;
    const Json json = Json::parse(answer.text.substr(at + 4), nullptr, false);
    if (json.is_object()) Read(json, answer);
    return answer;
  }
  static void Read(const Json& json, HoldAnswer& answer) {
    const bool refused = answer.text.starts_with("HTTP/1.1 429 ");
    answer.kind = answer.text.starts_with("HTTP/1.1 200 ") ? HoldAnswer::kYes
                  : refused                                ? HoldAnswer::kNo
                                                           : HoldAnswer::kError;
    for (const char* field : {"granted", "copies"}) answer.copies += json.value(field, uint64_t{0});
    for (const char* field : {"session", "hold", "transfer"}) {
      if (json.contains(field) && json[field].is_string()) answer.name = json[field];
    }
    answer.subject = json.value("subject", "");
    answer.greatest = answer.copies;
    for (const char* field : {"held", "held_total"}) {
      answer.greatest = std::max(answer.greatest, json.value(field, uint64_t{0}));
    }
    for (const Json& group : json.value("groups", Json::array())) {
      if (group.is_object()) answer.greatest = std::max<uint64_t>(answer.greatest, group["held"]);
    }
  }

  const int port_;
  std::string id_;
};

}  // namespace

std::unique_ptr<HoldSession> HoldSession::OverResp(int port) {
  auto session = std::make_unique<RespSession>(port);
  return session->connected() ? std::move(session) : nullptr;
}

std::unique_ptr<HoldSession> HoldSession::OverHttp(int port, Millis ttl) {
  auto session = std::make_unique<HttpSession>(port, ttl);
  return session->open() ? std::move(session) : nullptr;
}

}  // namespace weir::e2e
