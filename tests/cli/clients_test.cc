// The commands that ask a running server.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "tests/cli/fake_server.h"
#include "tests/cli/process.h"
#include "tests/e2e/server_process.h"

namespace weir::clients_test {
namespace {

using cli::FakeServer;
using cli::HttpAnswerOf;
using e2e::RunProgram;
using e2e::ServerProcess;
using e2e::TemporaryFiles;

bool Has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

constexpr char kShop[] =
    "namespaces:\n"
    "  shop:\n"
    "    resources:\n"
    "      search: {limits: [{name: daily, limit: 4, per: 1d}]}\n"
    "      quiet: {limits: [{limit: 4, per: 1d}]}\n"
    "      box: {copies: {per_subject: 2, total: 3, groups: [{name: trial, limit: 1, subjects: "
    "[tim]}]}}\n";

Ran Weir(std::vector<std::string> arguments, const std::vector<std::string>& environment = {}) {
  std::vector<std::string> command = {"/usr/bin/env"};
  command.insert(command.end(), environment.begin(), environment.end());
  command.emplace_back(WEIR_BINARY);
  command.insert(command.end(), arguments.begin(), arguments.end());
  return RunWithPipe(command, "");
}

class Clients : public testing::Test {
 protected:
  std::string Http() const { return "127.0.0.1:" + std::to_string(server_.port("http")); }
  std::string Resp() const { return "127.0.0.1:" + std::to_string(server_.port("resp")); }
  Ran Ask(const std::string& subject, const std::vector<std::string>& more = {}) const {
    std::vector<std::string> all = {"request", "--server", Http(),   "--deadline",
                                    "10s",     "shop",     "search", subject};
    all.insert(all.end(), more.begin(), more.end());
    return Weir(all);
  }
  Ran Reserve(const std::string& subject, const std::vector<std::string>& more) const {
    std::vector<std::string> all = {"reserve", "--resp", Resp(), "--deadline",
                                    "10s",     "shop",   "box",  subject};
    all.insert(all.end(), more.begin(), more.end());
    return Weir(all);
  }

  const TemporaryFiles files_;
  ServerProcess server_{{"--config", files_.Write("rules.yaml", kShop)}};
};

TEST_F(Clients, DurationsAreToldAsPeopleSayThem) {
  const Ran all = Ask("ann", {"--cost", "4"});
  EXPECT_EQ(all.exit_code, 0) << all.errors;
  EXPECT_TRUE(Has(all.out, "4 per 1d")) << all.out;
  EXPECT_TRUE(Has(all.out, "resets in 23h 59m") || Has(all.out, "resets in 1d")) << all.out;
  const Ran refused = Ask("ann");
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_TRUE(Has(refused.out, "refused  by daily  retry after 5h 59m")) << refused.out;
}

TEST_F(Clients, ErrorsNameTheFieldAtFault) {
  const Ran ran = Ask("ann", {"--cost", "1", "--min-cost", "2"});
  EXPECT_EQ(ran.exit_code, 2);
  EXPECT_TRUE(Has(ran.errors, "error: bad_request: ")) << ran.errors;
  EXPECT_TRUE(Has(ran.errors, "(field: min_cost)")) << ran.errors;
}

TEST_F(Clients, TheServerIsNamedAsAnAddressOrAUrl) {
  for (const std::string& server : {Http(), "http://" + Http(), "http://" + Http() + "/"}) {
    const Ran ran = Weir({"peek", "--server", server, "shop", "search", "url"});
    EXPECT_EQ(ran.exit_code, 0) << ran.errors;
  }
  const Ran wrong = Weir({"peek", "--server", "ftp://x:1", "a", "b", "c"});
  EXPECT_EQ(wrong.exit_code, 2);
  EXPECT_TRUE(Has(wrong.errors, "http://HOST:PORT or https://HOST:PORT")) << wrong.errors;
  const Ran tls =
      Weir({"peek", "--server", "https://" + Http(), "--deadline", "10s", "a", "b", "c"});
  EXPECT_TRUE(Has(tls.errors, "it does not speak TLS there")) << tls.errors;
}

TEST_F(Clients, VariablesOfServeAreNotThoseOfClients) {
  const std::vector<std::string> ask = {"peek", "shop", "search", "ann"};
  EXPECT_EQ(Weir(ask, {"WEIR_SERVER=" + Http(), "WEIR_DEADLINE=1ns", "WEIR_TLS_CERT=/nowhere",
                       "WEIR_CLIENT_DEADLINE=10s"})
                .exit_code,
            0);
  EXPECT_EQ(Weir(ask, {"WEIR_SERVER=" + Http(), "WEIR_CLIENT_DEADLINE=nonsense"}).exit_code, 2);
  const std::vector<std::string> hold = {"reserve", "shop", "box", "eve", "--", "true"};
  EXPECT_EQ(Weir(hold, {"WEIR_SERVER_RESP=" + Resp(), "WEIR_RESP=127.0.0.1:1"}).exit_code, 0);
  EXPECT_EQ(Weir(hold, {"WEIR_RESP=" + Resp(), "WEIR_SERVER_RESP=127.0.0.1:1"}).exit_code, 2);
}

TEST_F(Clients, ARefusedReserveSaysByWhatAndHowManyAreHeld) {
  EXPECT_EQ(Reserve("ann", {"--copies", "3", "--", "true"}).errors,
            "refused by per_subject: ann holds 0 of 2\n");
  // Inside of one that holds.
  const auto within = [&](const std::string& subject, const std::string& copies,
                          const std::vector<std::string>& inner) {
    std::vector<std::string> more = {"--copies", copies, "--",         WEIR_BINARY, "reserve",
                                     "--resp",   Resp(), "--deadline", "10s"};
    more.insert(more.end(), inner.begin(), inner.end());
    return Reserve(subject, more);
  };
  const Ran subject = within("ann", "2", {"shop", "box", "ann", "--", "true"});
  EXPECT_EQ(subject.exit_code, 75);
  EXPECT_EQ(subject.errors, "refused by per_subject: ann holds 2 of 2\n");
  const Ran waited = within("ann", "2", {"--wait", "50ms", "shop", "box", "ann", "--", "true"});
  EXPECT_EQ(waited.exit_code, 75);
  EXPECT_EQ(waited.errors, "refused by per_subject: ann holds 2 of 2\n");
  const Ran total = within("ann", "2", {"--copies", "2", "shop", "box", "bob", "--", "true"});
  EXPECT_EQ(total.errors, "refused by total: held are 2 of 3\n");
  const Ran group = within("tim", "1", {"shop", "box", "tim", "--", "true"});
  EXPECT_EQ(group.errors, "refused by group trial: held are 1 of 1\n");
}

TEST_F(Clients, TopIsATableAndJson) {
  Ask("ann");
  const Ran table = Weir({"top", "--server", Http(), "--once"});
  EXPECT_EQ(table.exit_code, 0) << table.errors;
  EXPECT_TRUE(Has(table.out, "weir top  " + Http())) << table.out;
  EXPECT_TRUE(Has(table.out, "shop/search")) << table.out;
  EXPECT_TRUE(Has(table.out, "1 resource (and ")) << table.out;
  const Ran json = Weir({"top", "--server", Http(), "--once", "--json"});
  EXPECT_EQ(json.exit_code, 0);
  EXPECT_TRUE(json.out.starts_with("{\"server\":\"" + Http() + "\",\"time\":\"2")) << json.out;
  EXPECT_TRUE(Has(json.out, "\"resource\":\"quiet\"")) << json.out;
  EXPECT_EQ(json.out.find('\n'), json.out.size() - 1);
}

TEST_F(Clients, TopKnowsNoOtherResources) {
  const Ran resource = Weir({"top", "--server", Http(), "--once", "shop", "sarch"});
  EXPECT_EQ(resource.exit_code, 2);
  EXPECT_TRUE(Has(resource.errors, "unknown_resource: there is no such resource (field: resource)"))
      << resource.errors;
  const Ran ns = Weir({"top", "--server", Http(), "--once", "shoop"});
  EXPECT_EQ(ns.exit_code, 2);
  EXPECT_TRUE(Has(ns.errors, "no namespace 'shoop'")) << ns.errors;
}

TEST_F(Clients, TopFitsItsTerminalAndQuits) {
  for (int i = 0; i < 30; ++i) Ask("a-subject-with-a-long-name-" + std::to_string(i));
  for (const TerminalSize size : {TerminalSize{80, 24}, {40, 10}, {200, 50}, {20, 3}}) {
    const Ran ran = RunAtTerminal({WEIR_BINARY, "top", "--server", Http()}, "q", size);
    EXPECT_EQ(ran.exit_code, 0) << ran.out;
    // The last screen: between the cursor's way home and the end of what is drawn.
    const size_t home = ran.out.rfind("\x1b[H");
    ASSERT_NE(home, std::string::npos) << ran.out;
    std::string screen = ran.out.substr(home + 3, ran.out.rfind("\x1b[J") - home - 3);
    size_t columns = 0, rows = 1;
    for (size_t i = 0; i < screen.size(); ++i) {
      if (screen[i] == '\x1b') {
        i = screen.find_first_of("mKJ", i);
      } else if (screen[i] == '\n') {
        EXPECT_LE(columns, size.columns);
        columns = 0;
        ++rows;
      } else if ((static_cast<unsigned char>(screen[i]) & 0xc0) != 0x80) {
        ++columns;
      }
    }
    EXPECT_LE(columns, size.columns);
    EXPECT_LE(rows, size.rows) << screen;
    EXPECT_TRUE(Has(screen, size.columns == 20 ? "weir top" : "weir top  127.0.0.1:")) << screen;
    // The terminal is given back.
    EXPECT_TRUE(ran.out.ends_with("\x1b[?25h\x1b[?1049l")) << ran.out;
  }
}

// Certificates, and a server that has one.
class TlsClients : public testing::Test {
 protected:
  std::string Make(const std::string& name, const std::vector<std::string>& more) const {
    const std::string path = files_.path() + "/" + name;
    std::vector<std::string> command = {"openssl",
                                        "req",
                                        "-x509",
                                        "-newkey",
                                        "ec",
                                        "-pkeyopt",
                                        "ec_paramgen_curve:prime256v1",
                                        "-nodes",
                                        "-subj",
                                        "/CN=" + name,
                                        "-keyout",
                                        path + ".key",
                                        "-out",
                                        path + ".crt"};
    command.insert(command.end(), more.begin(), more.end());
    const e2e::Finished made = RunProgram(command);
    EXPECT_EQ(made.exit_code, 0) << made.output;
    return path;
  }
  const TemporaryFiles files_;
  const std::string rules_ = files_.Write("rules.yaml", kShop);
};

TEST_F(TlsClients, EveryCommandSpeaksTls) {
  const std::string own = Make("own", {"-addext", "subjectAltName=IP:127.0.0.1"});
  ServerProcess server({"--config", rules_, "--tls-cert", own + ".crt", "--tls-key", own + ".key"});
  const std::string at = "127.0.0.1:" + std::to_string(server.port("http"));
  const std::string ca = own + ".crt";
  for (const std::vector<std::string>& command :
       std::vector<std::vector<std::string>>{{"request", "shop", "search", "ann"},
                                             {"peek", "shop", "search", "ann"},
                                             {"config", "export"},
                                             {"config", "diff", rules_},
                                             {"top", "--once"}}) {
    std::vector<std::string> all = command;
    all.insert(all.end(), {"--server", "https://" + at, "--tls-ca", ca, "--deadline", "10s"});
    const Ran ran = Weir(all);
    EXPECT_NE(ran.exit_code, 2) << command[0] << ": " << ran.errors;
  }
  const Ran settled = Weir({"settle", "0123", "1", "--server", "https://" + at, "--tls-ca", ca});
  EXPECT_TRUE(Has(settled.errors, "ticket")) << settled.errors;
  const Ran status = Weir({"cluster", "status", "--server", "https://" + at, "--tls-ca", ca});
  EXPECT_TRUE(Has(status.errors, "not a node of a cluster")) << status.errors;
  // Without the word, whoever names a CA means TLS.
  EXPECT_EQ(Weir({"peek", "shop", "search", "ann", "--deadline", "10s"},
                 {"WEIR_SERVER=" + at, "WEIR_CLIENT_TLS_CA=" + ca})
                .exit_code,
            0);
  const std::string resp = "127.0.0.1:" + std::to_string(server.port("resp"));
  const Ran held = Weir({"reserve", "--resp", "rediss://" + resp, "--tls-ca", ca, "--deadline",
                         "10s", "shop", "box", "ann", "--", "echo", "ran"});
  EXPECT_EQ(held.exit_code, 0) << held.errors;
  EXPECT_EQ(held.out, "ran\n");
}

TEST_F(TlsClients, TellWhatIsWrongWithACertificate) {
  const std::string own = Make("own", {"-addext", "subjectAltName=DNS:weir.example"});
  ServerProcess server({"--config", rules_, "--tls-cert", own + ".crt", "--tls-key", own + ".key"});
  const std::string at = "https://127.0.0.1:" + std::to_string(server.port("http"));
  const auto ask = [&](const std::vector<std::string>& more) {
    std::vector<std::string> all = {"peek", "--server", at,       "--deadline",
                                    "10s",  "shop",     "search", "ann"};
    all.insert(all.end(), more.begin(), more.end());
    return Weir(all);
  };
  const Ran stranger = ask({});
  EXPECT_EQ(stranger.exit_code, 2);
  EXPECT_TRUE(Has(stranger.errors, "signed by nobody that is trusted here: --tls-ca FILE"))
      << stranger.errors;
  const Ran misnamed = ask({"--tls-ca", own + ".crt"});
  EXPECT_EQ(misnamed.exit_code, 2);
  EXPECT_TRUE(Has(misnamed.errors, "its certificate is not for 127.0.0.1: --tls-name"))
      << misnamed.errors;
  EXPECT_EQ(ask({"--tls-ca", own + ".crt", "--tls-name", "weir.example"}).exit_code, 0);
  EXPECT_EQ(ask({"--tls-ca", own + ".crt", "--tls-name", "other.example"}).exit_code, 2);
  const Ran lost = ask({"--tls-ca", "/nowhere"});
  EXPECT_EQ(lost.exit_code, 2);
  EXPECT_TRUE(Has(lost.errors, "--tls-ca /nowhere")) << lost.errors;
  const Ran plain = Weir({"peek", "--server", at.substr(8), "--deadline", "10s", "a", "b", "c"});
  EXPECT_EQ(plain.exit_code, 2);
  EXPECT_TRUE(Has(plain.errors, "https://")) << plain.errors;
}

TEST_F(TlsClients, TellThatACertificateHasExpired) {
  const std::string old = files_.path() + "/old";
  Make("old", {});
  // `req -x509` cannot make one of the past; `x509 -req -days 0` is over as soon as it is made.
  EXPECT_EQ(RunProgram({"openssl", "req", "-new", "-key", old + ".key", "-subj", "/CN=old", "-out",
                        old + ".csr"})
                .exit_code,
            0);
  const std::string names = files_.Write("names", "subjectAltName=IP:127.0.0.1\n");
  EXPECT_EQ(RunProgram({"openssl", "x509", "-req", "-in", old + ".csr", "-signkey", old + ".key",
                        "-days", "-1", "-extfile", names, "-out", old + ".crt"})
                .exit_code,
            0);
  ServerProcess server({"--config", rules_, "--tls-cert", old + ".crt", "--tls-key", old + ".key"});
  const Ran ran =
      Weir({"peek", "--server", "https://127.0.0.1:" + std::to_string(server.port("http")),
            "--tls-ca", old + ".crt", "--deadline", "10s", "shop", "search", "ann"});
  EXPECT_EQ(ran.exit_code, 2);
  EXPECT_TRUE(Has(ran.errors, "its certificate has expired")) << ran.errors;
}

TEST_F(TlsClients, ShowACertificateToWhoeverWantsOne) {
  const std::string own = Make("own", {"-addext", "subjectAltName=IP:127.0.0.1"});
  const std::string mine = Make("mine", {});
  ServerProcess server({"--config", rules_, "--tls-cert", own + ".crt", "--tls-key", own + ".key",
                        "--tls-ca", mine + ".crt"});
  const auto ask = [&](const std::vector<std::string>& more) {
    std::vector<std::string> all = {
        "peek",     "--server",   "https://127.0.0.1:" + std::to_string(server.port("http")),
        "--tls-ca", own + ".crt", "--deadline",
        "10s",      "shop",       "search",
        "ann"};
    all.insert(all.end(), more.begin(), more.end());
    return Weir(all);
  };
  const Ran without = ask({});
  EXPECT_EQ(without.exit_code, 2);
  EXPECT_TRUE(Has(without.errors, "--tls-cert FILE")) << without.errors;
  const Ran with = ask({"--tls-cert", mine + ".crt", "--tls-key", mine + ".key"});
  EXPECT_EQ(with.exit_code, 0) << with.errors;
  const Ran half = ask({"--tls-cert", mine + ".crt"});
  EXPECT_TRUE(Has(half.errors, "--tls-cert and --tls-key go together")) << half.errors;
}

TEST_F(TlsClients, AFollowerSpeaksTls) {
  const std::string own = Make("own", {"-addext", "subjectAltName=DNS:config.example"});
  const std::string tokens = files_.Write("tokens", "secret read *\n");
  ServerProcess leader({"--role", "config", "--seed", rules_, "--tls-cert", own + ".crt",
                        "--tls-key", own + ".key", "--grpc", "off", "--resp", "off"});
  const std::string from = "https://127.0.0.1:" + std::to_string(leader.port("http"));
  ServerProcess follower({"--role", "limiter", "--config-from", from, "--config-tls-ca",
                          own + ".crt", "--config-tls-name", "config.example"});
  const Ran ran = Weir({"peek", "--server", "127.0.0.1:" + std::to_string(follower.port("http")),
                        "--deadline", "10s", "shop", "search", "ann"});
  EXPECT_EQ(ran.exit_code, 0) << ran.errors << follower.log();
  ServerProcess wrong(
      {"--role", "limiter", "--config-from", from, "--config-tls-ca", own + ".crt"});
  EXPECT_TRUE(Has(wrong.log(), "--config-tls-name NAME says for whom it is")) << wrong.log();
}

}  // namespace
}  // namespace weir::clients_test
