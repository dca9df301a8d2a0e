// Clients that come back over TLS go on with the session that they had, also where they show a
// certificate.
#include <gtest/gtest.h>
#include <signal.h>

#include <memory>

#include "lab/live/free_port.h"
#include "tests/e2e/proxy.h"
#include "tests/e2e/server_process.h"

namespace weir::e2e::tls_resumption_test {
namespace {

constexpr char kRules[] =
    "namespaces: {shop: {resources: {search: {limits: [{limit: 3, per: 1h}]}}}}\n";

constexpr char kNginx[] = R"(
events {}
http {
  access_log off;
%FOLDERS%
  server {
    listen 127.0.0.1:%PORT%;
    location / {
      proxy_pass https://127.0.0.1:%WEIR%/healthz;
      proxy_ssl_certificate %DIR%/client.crt;
      proxy_ssl_certificate_key %DIR%/client.key;
      proxy_ssl_protocols TLSv1.3;
    }
  }
}
)";

// Connects `argv[2]` times to the port `argv[1]`, each time with the session of the time before, and
// prints whether it was taken up. The rest: what to send, and what the answer begins with.
constexpr char kPython[] = R"(
import socket, ssl, sys
port, times, say, answer, folder = int(sys.argv[1]), int(sys.argv[2]), *sys.argv[3:]
context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
context.load_verify_locations(folder + '/server.crt')
context.load_cert_chain(folder + '/client.crt', folder + '/client.key')
session = None
for _ in range(times):
    plain = socket.create_connection(('127.0.0.1', port), 10)
    with context.wrap_socket(plain, server_hostname='127.0.0.1', session=session) as tls:
        tls.sendall(say.encode().decode('unicode_escape').encode())
        got = tls.recv(4096).decode()
        assert got.startswith(answer), got
        print(tls.session_reused)
        session = tls.session
)";

std::string Replaced(std::string text, const std::string& what, const std::string& by) {
  for (size_t at; (at = text.find(what)) != std::string::npos;) text.replace(at, what.size(), by);
  return text;
}

class E2eTlsResumption : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const char* name : {"server", "client"}) {
      const std::string base = files_.path() + "/" + name;
      const Finished made = RunProgram(
          {"openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
           "-nodes", "-days", "2", "-subj", std::string("/CN=") + name, "-addext",
           "subjectAltName=IP:127.0.0.1", "-keyout", base + ".key", "-out", base + ".crt"});
      ASSERT_EQ(made.exit_code, 0) << made.output;
    }
    server_ = std::make_unique<ServerProcess>(std::vector<std::string>{
        "--config", files_.Write("rules.yaml", kRules), "--tls-cert", File("server.crt"),
        "--tls-key", File("server.key"), "--tls-ca", File("client.crt")});
    ASSERT_NE(server_->port("http"), 0) << server_->log();
  }
  std::string File(const std::string& name) const { return files_.path() + "/" + name; }
  Finished Python(const std::string& front, const std::string& say, const std::string& answer) {
    return RunProgram({"/usr/bin/python3", "-c", kPython, std::to_string(server_->port(front)), "4",
                       say, answer, files_.path()});
  }

  // `option`: -sess_out or -sess_in.
  std::string Openssl(const std::string& option) {
    return RunProgram({"openssl", "s_client", "-connect",
                       "127.0.0.1:" + std::to_string(server_->port("http")), "-tls1_3", "-ign_eof",
                       "-CAfile", File("server.crt"), "-cert", File("client.crt"), "-key",
                       File("client.key"), option, File("session")},
                      "GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        .output;
  }

  TemporaryFiles files_;
  std::unique_ptr<ServerProcess> server_;
};

TEST_F(E2eTlsResumption, OfPythonOnEveryFront) {
  const std::string resumed = "False\nTrue\nTrue\nTrue\n";
  EXPECT_EQ(
      Python("http", "GET /healthz HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n", "HTTP/1.1 200 ").output,
      resumed);
  EXPECT_EQ(Python("resp", "PING\\r\\n", "+PONG").output, resumed);
}

TEST_F(E2eTlsResumption, OfOpenssl) {
  const std::string first = Openssl("-sess_out"), second = Openssl("-sess_in");
  EXPECT_NE(first.find("HTTP/1.1 200 "), std::string::npos) << first;
  EXPECT_NE(second.find("HTTP/1.1 200 "), std::string::npos) << second;
  EXPECT_NE(second.find("Reused, TLSv1.3"), std::string::npos) << second;
}

// It takes up the last session by default, with a new connection for each request.
TEST_F(E2eTlsResumption, OfNginx) {
  const int port = lab::FreePort();
  std::string folders;  // Debian's belong to root
  for (const char* name : {"client_body", "proxy", "fastcgi", "uwsgi", "scgi"}) {
    folders += std::string(name) + "_temp_path " + files_.path() + "/" + name + ";\n";
  }
  std::string config = Replaced(kNginx, "%FOLDERS%", folders);
  config = Replaced(config, "%PORT%", std::to_string(port));
  config = Replaced(config, "%WEIR%", std::to_string(server_->port("http")));
  files_.Write("nginx.conf", Replaced(config, "%DIR%", files_.path()));
  const Proxy nginx({"/usr/sbin/nginx", "-p", files_.path(), "-c", "nginx.conf", "-e", "stderr",
                     "-g", "daemon off; master_process off; pid " + File("pid") + ";"},
                    port);
  ASSERT_TRUE(nginx.running()) << nginx.log();
  for (int i = 0; i < 10; ++i) {
    const std::string answer = HttpGet(port, "/");
    EXPECT_TRUE(answer.starts_with("HTTP/1.1 200 ")) << i << ": " << answer << nginx.log();
  }
}

// Whoever is let in no longer is not let in by what he was given before.
TEST_F(E2eTlsResumption, EndsWithTheFilesThatWereReadAgain) {
  Openssl("-sess_out");
  server_->Signal(SIGHUP);
  ASSERT_TRUE(server_->WaitForLog("new rules are in force"));
  const std::string again = Openssl("-sess_in");
  EXPECT_NE(again.find("HTTP/1.1 200 "), std::string::npos) << again;
  EXPECT_EQ(again.find("Reused, TLSv1.3"), std::string::npos) << again;
}

}  // namespace
}  // namespace weir::e2e::tls_resumption_test
