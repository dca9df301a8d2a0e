// The command line. CLI11 is included here and nowhere else: it takes nine seconds to compile.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cctype>
#include <cstdlib>
#include <iostream>
#include <list>
#include <optional>
#include <string>

#include "server/check_command.h"
#include "server/client/client_commands.h"
#include "server/client/cluster_command.h"
#include "server/client/config_command.h"
#include "server/client/reserve_command.h"
#include "server/client/top_command.h"
#include "server/serve_command.h"
#include "server/time_text.h"
#include "server/try_command.h"
#include "server/version.h"

namespace {

bool IsTerminal(int descriptor) { return isatty(descriptor) == 1; }

bool WantsColours() { return IsTerminal(STDOUT_FILENO) && std::getenv("NO_COLOR") == nullptr; }

void AddTry(CLI::App& app, int& exit_code) {
  static weir::TryOptions options;
  CLI::App* command =
      app.add_subcommand("try", "Ask rules for decisions, at a prompt or by a pipe");
  command->add_option("RULES", options.rules, "A rules file, or a directory of them")->required();
  command->add_option("--start", options.start,
                      "The time at the beginning, such as 2026-11-15T10:00:00Z; it then stands "
                      "still until a line moves it");
  command->callback([&] {
    options.prompt = IsTerminal(STDIN_FILENO) && IsTerminal(STDOUT_FILENO);
    options.colours = WantsColours();
    exit_code = weir::RunTry(options, std::cin, std::cout, std::cerr);
  });
}

void AddCheck(CLI::App& app, int& exit_code) {
  static weir::CheckOptions options;
  CLI::App* command = app.add_subcommand("check", "Read rules and tell what they come to");
  command->add_option("PATH", options.path, "A rules file, or a directory of them")->required();
  command->add_flag("--cluster", options.cluster,
                    "For a server with --cluster: limits may be replicated");
  command->callback([&] {
    options.colours = WantsColours() && IsTerminal(STDERR_FILENO);
    exit_code = weir::RunCheck(options, std::cout, std::cerr);
  });
}

// An option that is an environment variable too: --tls-cert is WEIR_TLS_CERT.
template <typename T>
CLI::Option* AddSetting(CLI::App* command, const std::string& flag, T& value,
                        const std::string& help) {
  std::string variable = "WEIR_";
  for (const char c : flag.substr(2)) {
    variable += c == '-' ? '_' : static_cast<char>(std::toupper(c));
  }
  return command->add_option(flag, value, help)->envname(variable)->capture_default_str();
}

CLI::Option* AddDuration(CLI::App* command, const std::string& flag, weir::Duration& value,
                         const std::string& help) {
  static std::list<std::string> texts;  // where CLI11 puts what it reads
  std::string& text = texts.emplace_back(weir::DurationText(value));
  return AddSetting(command, flag, text, help)->check([&value](const std::string& given) {
    const std::optional<weir::Duration> read = weir::ParseDuration(given);
    if (read) value = *read;
    return read ? "" : "is not a duration such as 20ms or 10s";
  });
}

void AddServe(CLI::App& app, int& exit_code) {
  static weir::Settings settings;
  static std::string adhoc = "on", role = "all";
  CLI::App* command = app.add_subcommand("serve", "Answer over HTTP, gRPC and the Redis protocol");
  AddSetting(command, "--role", role,
             "all; config: the configuration API alone; limiter: follows another's configuration")
      ->check(CLI::IsMember({"all", "config", "limiter"}));
  CLI::Option* config =
      AddSetting(command, "--config", settings.config,
                 "Rules: a file or a directory of them; a change is read at once");
  AddSetting(command, "--seed", settings.seed,
             "Rules that fill the database if nothing was ever written to it")
      ->excludes(config);
  AddSetting(
      command, "--database", settings.database,
      "Where the rules are kept: postgresql://… or a file; else weir.db in --data, else memory")
      ->excludes(config);
  AddSetting(command, "--ratelimit-config", settings.ratelimit_config,
             "A directory of envoyproxy/ratelimit's files; a change is read at once");
  AddSetting(command, "--config-from", settings.config_from,
             "With --role limiter: the HTTP front of the server that has the configuration");
  AddSetting(command, "--config-token", settings.config_token, "A token that it wants");
  AddSetting(command, "--http", settings.http, "Address of the HTTP front, or off");
  AddSetting(command, "--grpc", settings.grpc, "Address of the gRPC front, or off");
  AddSetting(command, "--resp", settings.resp, "Address of the Redis front, or off");
  AddSetting(command, "--poolcounter", settings.poolcounter,
             "Address of the PoolCounter front, or off");
  AddSetting(command, "--threads", settings.threads, "Threads that serve; 0: one for each core")
      ->check(CLI::Range(0, 1024));
  AddSetting(command, "--memory", settings.memory_bytes,
             "What the state of all keys may take, e.g. 512MiB")
      ->transform(CLI::AsSizeValue(false));
  AddSetting(command, "--adhoc", adhoc, "on, or off: requests may not carry limits of their own")
      ->check(CLI::IsMember({"on", "off"}));
  AddSetting(command, "--data", settings.data, "A directory for what is kept");
  AddDuration(command, "--persist-interval", settings.persist_interval,
              "How often the use of limits with `persist` is written down there");
  AddSetting(command, "--node", settings.node, "The name of this node");
  AddSetting(command, "--cluster", settings.cluster,
             "Address for the other nodes of a cluster, UDP and TCP; without it there are none");
  AddSetting(command, "--cluster-key-file", settings.cluster_key_file,
             "A file with the secret that all nodes share: 32 characters or more");
  AddSetting(command, "--peers", settings.peers,
             "The other nodes: ID=HOST:PORT,… or file:PATH, one a line, or dns:NAME[:PORT]");
  AddSetting(command, "--tls-cert", settings.tls.cert, "Certificate (PEM): TLS on every front");
  AddSetting(command, "--tls-key", settings.tls.key, "Its key (PEM)");
  AddSetting(command, "--tls-ca", settings.tls.ca, "Clients need a certificate signed by these");
  AddSetting(command, "--token-file", settings.token_file,
             "Lines TOKEN read|write NAMESPACE: who may see statistics and the configuration, and "
             "change it; without it, loopback only");
  AddSetting(command, "--trusted-hops", settings.trusted_hops,
             "Proxies whose X-Forwarded-For counts, e.g. 10.0.0.0/8,127.0.0.1/32")
      ->delimiter(',');
  AddSetting(command, "--max-connections", settings.max_connections,
             "Connections of a front on a thread; beyond, the idlest is closed")
      ->check(CLI::Range(uint64_t{1}, uint64_t{10'000'000}));
  AddDuration(command, "--request-timeout", settings.request_timeout,
              "How long a request may take to arrive, and an answer to be read");
  AddDuration(command, "--deadline", settings.deadline,
              "How long a store that has to be waited for may take");
  AddDuration(command, "--drain-timeout", settings.drain_timeout,
              "How long open requests have to end after SIGTERM");
  AddDuration(command, "--session-timeout", settings.session_timeout,
              "How long a client that was cut off keeps what it holds");
  command->add_flag("--log-json", settings.log_json, "Log lines as JSON")->envname("WEIR_LOG_JSON");
  AddSetting(command, "--log-level", settings.log_level, "debug, info, warning or error")
      ->check(CLI::IsMember({"debug", "info", "warning", "error"}));
  command->callback([&] {
    settings.adhoc = adhoc == "on";
    settings.role = role == "config"    ? weir::ServerRole::kConfig
                    : role == "limiter" ? weir::ServerRole::kLimiter
                                        : weir::ServerRole::kAll;
    exit_code = weir::RunServe(settings);
  });
}

weir::ClientOptions& AddClient(CLI::App* command, weir::Duration deadline = {}) {
  static std::list<weir::ClientOptions> all;
  weir::ClientOptions& options = all.emplace_back();
  if (deadline != weir::Duration{}) options.deadline = deadline;
  AddSetting(command, "--server", options.server, "Address of a server's HTTP front");
  AddSetting(command, "--token", options.token,
             "Where the server wants one: for statistics and the configuration");
  AddDuration(command, "--deadline", options.deadline, "How long the answer may take");
  command->add_flag("--json", options.json, "Print the answer as it came");
  options.colours = WantsColours();
  return options;
}

void AddRequest(CLI::App& app, int& exit_code, const char* name, const char* help) {
  static std::list<weir::RequestArguments> all;
  weir::RequestArguments& arguments = all.emplace_back();
  arguments.peek = std::string(name) == "peek";
  CLI::App* command = app.add_subcommand(name, help);
  weir::ClientOptions& options = AddClient(command);
  command->add_option("NAMESPACE", arguments.namespace_name)->required();
  command->add_option("RESOURCE", arguments.resource)->required();
  command->add_option("SUBJECT", arguments.subject)->required();
  command->add_option("--cost", arguments.cost, "How much it takes")->capture_default_str();
  command->add_option("--min-cost", arguments.min_cost, "Take as little as this");
  if (!arguments.peek) {
    command->add_flag("--settle", arguments.settle, "The true cost will be told with `settle`");
  }
  command->callback(
      [&] { exit_code = weir::RunRequest(options, arguments, std::cout, std::cerr); });
}

void AddSettle(CLI::App& app, int& exit_code) {
  static weir::SettleArguments arguments;
  CLI::App* command = app.add_subcommand("settle", "Tell a running server the true cost");
  weir::ClientOptions& options = AddClient(command);
  command->add_option("TICKET", arguments.ticket)->required();
  command->add_option("COST", arguments.cost)->required();
  command->callback([&] { exit_code = weir::RunSettle(options, arguments, std::cout, std::cerr); });
}

void AddReserve(CLI::App& app, int& exit_code) {
  static weir::ReserveArguments arguments;
  CLI::App* command = app.add_subcommand("reserve", "Run a command while holding copies");
  AddSetting(command, "--resp", arguments.resp, "Address of a server's Redis front");
  AddSetting(command, "--token", arguments.token, "Its password, where the server wants one");
  AddDuration(command, "--deadline", arguments.deadline, "How long an answer may take");
  command->add_option("NAMESPACE", arguments.namespace_name)->required();
  command->add_option("RESOURCE", arguments.resource)->required();
  command->add_option("SUBJECT", arguments.subject)->required();
  command->add_option("--copies", arguments.copies, "How many to hold")->capture_default_str();
  AddDuration(command, "--wait", arguments.wait, "How long to wait for them");
  command->add_option("COMMAND", arguments.command, "What to run, behind --")->required();
  command->callback([&] { exit_code = weir::RunReserve(arguments, std::cerr); });
}

using ConfigRun = int (*)(const weir::ClientOptions&, const weir::ConfigArguments&, std::ostream&,
                          std::ostream&);

void AddConfigPart(CLI::App* config, int& exit_code, const char* name, const char* help,
                   ConfigRun run) {
  static std::list<weir::ConfigArguments> all;
  weir::ConfigArguments& arguments = all.emplace_back();
  CLI::App* command = config->add_subcommand(name, help);
  weir::ClientOptions& options = AddClient(command, std::chrono::seconds(10));
  AddSetting(command, "--database", arguments.database,
             "Not through a server, but in this: postgresql://… or a file (weir.db in --data)");
  const bool exports = std::string(name) == "export";
  if (!exports) {
    command->add_option("FILE", arguments.file, "A rules file, or a directory of them")->required();
  } else {
    command->add_option("--format", arguments.format, "yaml or json")
        ->check(CLI::IsMember({"yaml", "json"}))
        ->capture_default_str();
  }
  const char* user = std::getenv("USER");
  arguments.who =
      std::string("command line") + (user == nullptr ? "" : " of ") + (user ? user : "");
  command->callback([&options, &arguments, &exit_code, run] {
    exit_code = run(options, arguments, std::cout, std::cerr);
  });
}

void AddConfig(CLI::App& app, int& exit_code) {
  CLI::App* config = app.add_subcommand("config", "Export, import or compare the configuration");
  config->require_subcommand(1);
  AddConfigPart(config, exit_code, "export", "Print all rules as a file", weir::RunConfigExport);
  AddConfigPart(config, exit_code, "import", "Replace all rules by those of a file, at once",
                weir::RunConfigImport);
  AddConfigPart(config, exit_code, "diff", "Show what import would change; exits 1 if anything",
                weir::RunConfigDiff);
}

void AddCluster(CLI::App& app, int& exit_code) {
  CLI::App* cluster = app.add_subcommand("cluster", "Look at the nodes of a cluster");
  cluster->require_subcommand(1);
  CLI::App* command = cluster->add_subcommand(
      "status", "Show the other nodes as this one sees them; exits 1 if one is dead");
  weir::ClientOptions& options = AddClient(command, std::chrono::seconds(2));
  command->add_option("--http", options.server, "The same as --server");
  command->callback([&] { exit_code = weir::RunClusterStatus(options, std::cout, std::cerr); });
}

void AddTop(CLI::App& app, int& exit_code) {
  static weir::TopArguments arguments;
  CLI::App* command =
      app.add_subcommand("top", "Watch rates, the busiest and the most refused subjects");
  weir::ClientOptions& options = AddClient(command);
  command->add_option("NAMESPACE", arguments.namespace_name, "Only this namespace");
  command->add_option("RESOURCE", arguments.resource, "Only this resource");
  command->add_flag("--once", arguments.once, "Print once and stop");
  command->callback([&] {
    arguments.terminal = IsTerminal(STDOUT_FILENO);
    exit_code = weir::RunTop(options, arguments, std::cout, std::cerr);
  });
}

void AddHelpAndVersion(CLI::App& app) {
  static std::string help;  // taken before parsing, after which it would be the help of `help`
  app.add_subcommand("help", "List the commands")->callback([] { std::cout << help; });
  app.add_subcommand("version", "Print the version")->callback([] {
    std::cout << "weir " << weir::Version() << "\n";
  });
  help = app.help();
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Weir decides who may do what how often.", "weir");
  app.set_version_flag("--version", "weir " + std::string(weir::Version()));
  app.require_subcommand(1);
  int exit_code = 0;
  AddServe(app, exit_code);
  AddRequest(app, exit_code, "request", "Ask a running server for a decision");
  AddRequest(app, exit_code, "peek", "The same, taking nothing");
  AddSettle(app, exit_code);
  AddReserve(app, exit_code);
  AddTop(app, exit_code);
  AddConfig(app, exit_code);
  AddCluster(app, exit_code);
  AddTry(app, exit_code);
  AddCheck(app, exit_code);
  AddHelpAndVersion(app);
  const auto is_asked_for = [&](const CLI::App* one) { return one->get_name() == argv[1]; };
  if (argc > 1 && argv[1][0] != '-' && app.get_subcommands(is_asked_for).empty()) {
    std::cerr << "weir: no command '" << argv[1] << "'; 'weir help' lists them\n";
    return 2;
  }
  if (argc == 1) {
    std::cerr << app.help();
    return 2;
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;  // help and version are no mistakes
  }
  return exit_code;
}
