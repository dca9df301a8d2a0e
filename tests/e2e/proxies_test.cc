// Proxies of others in front of Weir, with the files of examples/ as they are but for the ports.
#include <gtest/gtest.h>
#include <signal.h>

#include <memory>

#include "lab/live/free_port.h"
#include "tests/e2e/proxy.h"
#include "tests/e2e/server_process.h"

namespace weir::e2e::proxies_test {
namespace {

// The resources of examples/edge.yaml, with limits that do not refill while a test runs.
constexpr char kRules[] =
    "namespaces: {edge: {resources: {site: {limits: [{name: per-address, limit: 3, per: 1d}]},\n"
    "                                api: {limits: [{name: per-key, limit: 2, per: 1d}]}}}}\n";

std::string Local(int port) { return "127.0.0.1:" + std::to_string(port); }

// What both proxies do; a test of each is below.
class E2eProxy : public ::testing::Test {
 protected:
  void StartWeir(std::vector<std::string> more = {}) {
    more.insert(more.begin(), {"--config", files_.Write("rules.yaml", kRules)});
    weir_ = std::make_unique<ServerProcess>(more);
  }
  std::string Configured(const std::string& example,
                         std::map<std::string, std::string> changes = {}) const {
    changes["127.0.0.1:8000"] = Local(port_);
    changes["127.0.0.1:9000"] = Local(upstream_.port());
    changes["127.0.0.1:8080"] = WeirAddress();
    return Example(example, changes);
  }
  std::string WeirAddress() const { return Local(weir_->port("http")); }
  void Start(const std::vector<std::string>& command) {
    proxy_ = std::make_unique<Proxy>(command, port_);
    ASSERT_TRUE(proxy_->running()) << proxy_->log();
  }
  std::string Get(const std::string& path, std::vector<std::string> more = {}) {
    more.insert(more.begin(), {"curl", "-sS", "-i", "--max-time", "10"});
    more.push_back("http://" + Local(port_) + path);
    return RunProgram(more).output;
  }
  // "200", or what else it is.
  std::string Status(const std::string& path, const std::vector<std::string>& more = {}) {
    const std::string answer = Get(path, more);
    return answer.size() < 12 ? answer : answer.substr(9, 3);
  }
  std::string StatusOfKey(const std::string& key) {
    return Status("/api/items", {"-H", "X-Api-Key: " + key});
  }

  void ExpectAdmissionThenRefusal() {
    for (int i = 0; i < 3; ++i) {
      const std::string answer = Get("/");
      EXPECT_TRUE(answer.starts_with("HTTP/1.1 200 ")) << answer << proxy_->log();
      EXPECT_TRUE(answer.ends_with("upstream\n")) << answer;
      EXPECT_NE(Lower(answer).find("\nratelimit: \"per-address\";r="), std::string::npos) << answer;
    }
    const std::string refused = Get("/");
    EXPECT_TRUE(refused.starts_with("HTTP/1.1 429 ")) << refused;
    EXPECT_NE(Lower(refused).find("\nretry-after: 2"), std::string::npos) << refused;
    EXPECT_EQ(upstream_.requests(), 3) << "a refused request goes no further";
  }
  void ExpectABudgetForEachKey() {
    EXPECT_EQ(Status("/api/items"), "401");
    EXPECT_EQ(StatusOfKey("ann"), "200");
    EXPECT_EQ(StatusOfKey("ann"), "200");
    EXPECT_EQ(StatusOfKey("ann"), "429");
    EXPECT_EQ(StatusOfKey("bob"), "200");
    EXPECT_EQ(StatusOfKey("carl & co/?#=%41"), "200");
  }
  void ExpectThatNoKeyGetsAroundItsLimit() {
    for (int i = 0; i < 2; ++i) EXPECT_EQ(StatusOfKey("\xff\xfe"), "200");
    EXPECT_EQ(StatusOfKey("\xff\xfe"), "429");
    const std::string too_long(5000, 'k');
    for (int i = 0; i < 3; ++i) EXPECT_NE(StatusOfKey(too_long), "200");
    EXPECT_EQ(upstream_.requests(), 2);
  }
  void ExpectABudgetForEachAddress() {
    for (int i = 0; i < 3; ++i) EXPECT_EQ(Status("/", {"--interface", "127.0.0.2"}), "200");
    EXPECT_EQ(Status("/", {"--interface", "127.0.0.2"}), "429");
    EXPECT_EQ(Status("/", {"--interface", "127.0.0.2", "-H", "X-Forwarded-For: 192.0.2.7"}), "429")
        << "a client does not choose who it is";
    EXPECT_EQ(Status("/", {"--interface", "127.0.0.3"}), "200");
  }
  void ExpectThatNobodyIsLimitedWithoutWeir() {
    for (int i = 0; i < 3; ++i) EXPECT_EQ(Status("/"), "200");
    EXPECT_EQ(Status("/"), "429");
    weir_->Signal(SIGTERM);
    EXPECT_EQ(weir_->WaitForEnd(), 0);
    for (int i = 0; i < 5; ++i) EXPECT_EQ(Status("/"), "200") << proxy_->log();
  }
  static std::string Lower(std::string text) {
    for (char& c : text) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
    return text;
  }

  TemporaryFiles files_;
  Upstream upstream_;
  int port_ = lab::FreePort();
  std::unique_ptr<ServerProcess> weir_;
  std::unique_ptr<Proxy> proxy_;
};

class E2eNginx : public E2eProxy {
 protected:
  void StartBoth(const std::vector<std::string>& weir = {"--trusted-hops", "127.0.0.1/32"}) {
    StartWeir(weir);
    std::string folders;  // Debian's belong to root
    for (const char* name : {"client_body", "proxy", "fastcgi", "uwsgi", "scgi"}) {
      folders += std::string(name) + "_temp_path " + files_.path() + "/" + name + ";\n";
    }
    files_.Write("nginx.conf", Configured("nginx/nginx.conf",
                                          {{"access_log off;", "access_log off;\n" + folders}}));
    files_.Write("weir.conf", Example("nginx/weir.conf", {}));
    Start({"/usr/sbin/nginx", "-p", files_.path(), "-c", "nginx.conf", "-e", "stderr", "-g",
           "daemon off; master_process off; pid " + files_.path() + "/pid;"});
  }
};

TEST_F(E2eNginx, PassesOnWhatIsAllowedAndAnswers429ToTheRest) {
  StartBoth();
  ExpectAdmissionThenRefusal();
}

TEST_F(E2eNginx, GivesEachKeyABudget) {
  StartBoth();
  ExpectABudgetForEachKey();
  EXPECT_EQ(Status("/api/items", {"-H", "X-Api-Key: ann", "-H", "X-Api-Key: eve"}), "429");
}

TEST_F(E2eNginx, LetsNoStrangeKeyAroundItsLimit) {
  StartBoth();
  ExpectThatNoKeyGetsAroundItsLimit();
}

TEST_F(E2eNginx, GivesEachAddressABudget) {
  StartBoth();
  ExpectABudgetForEachAddress();
}

TEST_F(E2eNginx, IsNotBelievedAboutAddressesUnlessItIsATrustedHop) {
  StartBoth({});
  for (const char* from : {"127.0.0.2", "127.0.0.3", "127.0.0.4"}) {
    EXPECT_EQ(Status("/", {"--interface", from}), "200");
  }
  EXPECT_EQ(Status("/", {"--interface", "127.0.0.5"}), "429") << "all are nginx to Weir";
}

TEST_F(E2eNginx, PassesRequestsWithABodyToo) {
  StartBoth();
  EXPECT_EQ(Status("/", {"-d", "a=1"}), "200");
}

TEST_F(E2eNginx, LimitsNobodyWhileWeirIsAway) {
  StartBoth();
  ExpectThatNobodyIsLimitedWithoutWeir();
}

class E2eHaproxy : public E2eProxy {
 protected:
  void StartBoth() {
    StartWeir();
    files_.Write("haproxy.cfg", Configured("haproxy/haproxy.cfg"));
    files_.Write("weir.lua", Example("haproxy/weir.lua", {{"127.0.0.1:8080", WeirAddress()}}));
    Start({"/usr/sbin/haproxy", "-C", files_.path(), "-f", "haproxy.cfg", "-db"});
  }
};

TEST_F(E2eHaproxy, PassesOnWhatIsAllowedAndAnswers429ToTheRest) {
  StartBoth();
  ExpectAdmissionThenRefusal();
}

TEST_F(E2eHaproxy, GivesEachKeyABudget) {
  StartBoth();
  ExpectABudgetForEachKey();
}

TEST_F(E2eHaproxy, LetsNoStrangeKeyAroundItsLimit) {
  StartBoth();
  ExpectThatNoKeyGetsAroundItsLimit();
}

TEST_F(E2eHaproxy, GivesEachAddressABudget) {
  StartBoth();
  ExpectABudgetForEachAddress();
}

TEST_F(E2eHaproxy, LimitsNobodyWhileWeirIsAway) {
  StartBoth();
  ExpectThatNobodyIsLimitedWithoutWeir();
}

}  // namespace
}  // namespace weir::e2e::proxies_test
