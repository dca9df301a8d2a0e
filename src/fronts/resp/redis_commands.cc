// What clients of Redis say when they connect, and what tools ask for. There is one database, it
// holds no keys, and every connection sees only itself.
#include "fmt/format.h"
#include "fronts/letters.h"
#include "fronts/resp/connection.h"

namespace weir::resp {
namespace {

constexpr std::string_view kRedisVersion = "7.0.0";  // whose protocol this is
constexpr size_t kLongestName = 256;

constexpr std::string_view kNoPassword =
    "AUTH <password> called without any password configured for the default user. Are you sure "
    "your configuration is correct?";
constexpr std::string_view kWrongPassword = "invalid username-password pair or user is disabled.";
constexpr std::string_view kSyntax = "syntax error";

}  // namespace

void Connection::Ping(const Words& words, const Turn& /*now*/) {
  if (words.size() == 1) return Answer().Simple("PONG");
  Answer().Bulk(words[1]);
}

void Connection::Echo(const Words& words, const Turn& /*now*/) { Answer().Bulk(words[1]); }

bool Connection::LogIn(std::string_view password) {
  const Reach* reach = options_.password ? options_.password(password) : &kEverywhere;
  if (reach == nullptr) return false;
  reach_ = reach;
  if (!options_.password) return true;
  password_ = password;
  link_.Trust();
  return true;
}

// A password that is right no more closes the door behind it, and whoever is outside holds nothing.
void Connection::LookAtPasswordAgain(const Turn& now) {
  if (options_.passwords_version == nullptr) return;
  const uint64_t version = options_.passwords_version->load(std::memory_order_acquire);
  if (version == passwords_seen_) return;
  passwords_seen_ = version;
  if (password_.empty()) return;
  reach_ = options_.password(password_);
  if (reach_ != nullptr) return;
  password_.clear();
  reach_ = StrangersReach();
  if (!open()) EndSession(now);
}

void Connection::Auth(const Words& words, const Turn& /*now*/) {
  if (!options_.password && words.size() == 2) return Answer().Error("ERR", kNoPassword);
  if (!LogIn(words.back())) return Answer().Error("WRONGPASS", kWrongPassword);
  Answer().Simple("OK");
}

bool Connection::SetName(std::string_view name) {
  const auto shows = [](char c) { return c > ' ' && c <= '~'; };
  if (name.size() > kLongestName || !std::all_of(name.begin(), name.end(), shows)) return false;
  name_ = name;
  return true;
}

void Connection::Hello(const Words& words, const Turn& /*now*/) {
  Form form = form_;
  if (words.size() > 1) {
    if (words[1] != "2" && words[1] != "3") {
      return Answer().Error("NOPROTO", "unsupported protocol version");
    }
    form = words[1] == "3" ? Form::kResp3 : Form::kResp2;
  }
  for (size_t i = 2; i < words.size();) {
    if (IsWord(words[i], "auth") && i + 2 < words.size()) {
      if (!LogIn(words[i + 2])) return Answer().Error("WRONGPASS", kWrongPassword);
      i += 3;
    } else if (IsWord(words[i], "setname") && i + 1 < words.size()) {
      if (!SetName(words[i + 1])) {
        return Answer().Error("ERR", "Client names cannot contain spaces or special characters.");
      }
      i += 2;
    } else {
      return Answer().Error("ERR", kSyntax);
    }
  }
  if (!open()) {
    return Answer().Error("NOAUTH",
                          "HELLO must be called with the client already authenticated, otherwise "
                          "the HELLO <proto> AUTH <user> <pass> option can be used.");
  }
  form_ = form;
  Reply reply = Answer();
  reply.Map(7);
  reply.Bulk("server"), reply.Bulk("weir");
  reply.Bulk("version"), reply.Bulk(kRedisVersion);
  reply.Bulk("proto"), reply.Integer(form_ == Form::kResp3 ? 3 : 2);
  reply.Bulk("id"), reply.Unsigned(id_);
  reply.Bulk("mode"), reply.Bulk("standalone");
  reply.Bulk("role"), reply.Bulk("master");
  reply.Bulk("modules"), reply.Array(0);
}

void Connection::Select(const Words& words, const Turn& /*now*/) {
  if (words[1] != "0") return Answer().Error("ERR", "DB index is out of range");
  Answer().Simple("OK");
}

std::string Connection::Description() const {
  return fmt::format("id={} addr={} name={} db=0 resp={}\n", id_, link_.peer(), name_,
                     form_ == Form::kResp3 ? 3 : 2);
}

void Connection::Client(const Words& words, const Turn& /*now*/) {
  Reply reply = Answer();
  const std::string_view what = words[1];
  if (IsWord(what, "setname") && words.size() == 3) {
    if (SetName(words[2])) return reply.Simple("OK");
    return reply.Error("ERR", "Client names cannot contain spaces or special characters.");
  }
  if (IsWord(what, "getname")) return reply.BulkOrNull(name_);
  if (IsWord(what, "id")) return reply.Unsigned(id_);
  if (IsWord(what, "list") || IsWord(what, "info")) return reply.Bulk(Description());
  if (IsWord(what, "setinfo") || IsWord(what, "no-evict") || IsWord(what, "no-touch")) {
    return reply.Simple("OK");
  }
  reply.Error("ERR", "unknown subcommand or wrong number of arguments for CLIENT");
}

// An empty table, which redis-cli takes for a server without help texts.
void Connection::CommandTable(const Words& words, const Turn& /*now*/) {
  Reply reply = Answer();
  if (words.size() == 1) return reply.Array(0);
  if (IsWord(words[1], "count")) return reply.Integer(0);
  if (IsWord(words[1], "docs")) return reply.Map(0);
  if (IsWord(words[1], "info")) {
    reply.Array(words.size() - 2);
    for (size_t i = 2; i < words.size(); ++i) reply.Null();
    return;
  }
  reply.Error("ERR", "unknown subcommand of COMMAND; there are COUNT, DOCS and INFO");
}

void Connection::Info(const Words& /*words*/, const Turn& /*now*/) {
  Answer().Bulk(
      fmt::format("# Server\r\nredis_version:{}\r\nredis_mode:standalone\r\nweir_version:{}\r\n"
                  "# Replication\r\nrole:master\r\n",
                  kRedisVersion, options_.version));
}

// redis-benchmark asks for two settings before it begins.
void Connection::Config(const Words& words, const Turn& /*now*/) {
  Reply reply = Answer();
  if (!IsWord(words[1], "get")) return reply.Error("ERR", "only CONFIG GET is understood");
  if (words.size() == 3 && IsWord(words[2], "save")) {
    reply.Map(1);
    reply.Bulk("save"), reply.Bulk("");
  } else if (words.size() == 3 && IsWord(words[2], "appendonly")) {
    reply.Map(1);
    reply.Bulk("appendonly"), reply.Bulk("no");
  } else {
    reply.Map(0);
  }
}

void Connection::Quit(const Words& /*words*/, const Turn& /*now*/) {
  Answer().Simple("OK");
  done_ = true;
}

// HTTP: the lines behind it may be commands, in the body that a web page has had its browser send.
void Connection::Stranger(const Words& /*words*/, const Turn& /*now*/) {
  Answer().Error("ERR", "this is not the port for HTTP");
  done_ = true;
}

void Connection::Reset(const Words& /*words*/, const Turn& now) {
  EndSession(now);
  form_ = Form::kResp2;
  reach_ = StrangersReach();
  password_.clear();
  name_.clear();
  Answer().Simple("RESET");
}

}  // namespace weir::resp
