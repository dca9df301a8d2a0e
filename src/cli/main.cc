// The command line. CLI11 is included here and nowhere else: it takes nine seconds to compile.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cctype>
#include <charconv>
#include <cstdlib>
#include <iostream>
#include <limits>
#include <list>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>
#include <string>

#include "base/terminal.h"
#include "base/time_text.h"
#include "cli/check_command.h"
#include "cli/client_commands.h"
#include "cli/cluster_command.h"
#include "cli/config_command.h"
#include "cli/reserve_command.h"
#include "cli/serve_command.h"
#include "cli/size_text.h"
#include "cli/top_command.h"
#include "cli/try_command.h"
#include "server/version.h"

namespace {

bool IsTerminal(int descriptor) { return isatty(descriptor) == 1; }

bool WantsColours() { return IsTerminal(STDOUT_FILENO) && std::getenv("NO_COLOR") == nullptr; }

weir::Terminal& Out() {
  static weir::Terminal out(std::cout, WantsColours());
  return out;
}

weir::Terminal& Errors() {
  static weir::Terminal errors(std::cerr, WantsColours() && IsTerminal(STDERR_FILENO));
  return errors;
}

// CLI11 reads "-1" as 2^64-1, "0x10" as 16 and "1e3" as 1: whoever means a number writes digits.
template <typename T>
std::string WholeNumberProblem(const std::string& text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool digits = !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
  if (digits && error == std::errc() && end == text.data() + text.size()) return "";
  return "'" + text + "' is not a whole number from 0 to " +
         std::to_string(std::numeric_limits<T>::max());
}

template <typename T>
struct Numeric : std::bool_constant<std::is_integral_v<T> && !std::is_same_v<T, bool>> {
  using Type = T;
};
template <typename T>
struct Numeric<std::optional<T>> : Numeric<T> {};

// The one way to add an option: whatever is a number is checked to be one. Without help, a word.
template <typename T>
CLI::Option* AddOption(CLI::App* command, const std::string& name, T& value,
                       const std::string& help = "") {
  CLI::Option* const option = command->add_option(name, value, help);
  if constexpr (Numeric<T>::value) option->check(WholeNumberProblem<typename Numeric<T>::Type>);
  return option;
}

// An option that is an environment variable too: --tls-cert is WEIR_TLS_CERT.
template <typename T>
CLI::Option* AddSetting(CLI::App* command, const std::string& flag, T& value,
                        const std::string& help, const std::string& prefix = "WEIR_") {
  std::string variable = prefix;
  for (const char c : flag.substr(2)) {
    variable += c == '-' ? '_' : static_cast<char>(std::toupper(c));
  }
  return AddOption(command, flag, value, help)->envname(variable)->capture_default_str();
}

// Where CLI11 puts what it reads of a value that is read from text.
std::string& TextOfOption(std::string text) {
  static std::list<std::string> texts;
  return texts.emplace_back(std::move(text));
}

CLI::Option* AddDuration(CLI::App* command, const std::string& flag, weir::Duration& value,
                         const std::string& help, const std::string& prefix = "WEIR_") {
  std::string& text = TextOfOption(weir::DurationText(value));
  return AddSetting(command, flag, text, help, prefix)->check([&value](const std::string& given) {
    const std::optional<weir::Duration> read = weir::ParseDuration(given);
    if (read) value = *read;
    return read ? "" : "'" + given + "' is not a duration such as 20ms or 10s";
  });
}

// What would be off, or never rest, were it shorter.
auto AtLeast(weir::Duration least) {
  return [least](const std::string& given) {
    const std::optional<weir::Duration> read = weir::ParseDuration(given);
    return !read || *read >= least
               ? ""
               : "'" + given + "' is too short: at least " + weir::DurationText(least);
  };
}

CLI::Option* AddSize(CLI::App* command, const std::string& flag, uint64_t& value,
                     const std::string& help) {
  std::string& text = TextOfOption(weir::SizeText(value));
  return AddSetting(command, flag, text, help)->check([&value](const std::string& given) {
    const std::optional<uint64_t> read = weir::ParseSize(given);
    if (read) value = *read;
    return read ? "" : "'" + given + "' is not a size such as 512MiB or 2GiB";
  });
}

void AddTry(CLI::App& app, int& exit_code) {
  static weir::TryOptions options;
  CLI::App* command =
      app.add_subcommand("try", "Ask rules for decisions, at a prompt or by a pipe");
  AddOption(command, "RULES", options.rules, "A rules file, or a directory of them")->required();
  AddOption(command, "--start", options.start,
            "The time at the beginning, such as 2026-11-15T10:00:00Z; it then stands "
            "still until a line moves it");
  command->callback([&] {
    options.prompt = IsTerminal(STDIN_FILENO) && IsTerminal(STDOUT_FILENO);
    exit_code = weir::RunTry(options, std::cin, Out(), Errors());
  });
}

void AddCheck(CLI::App& app, int& exit_code) {
  static weir::CheckOptions options;
  CLI::App* command = app.add_subcommand("check", "Read rules and tell what they come to");
  AddOption(command, "PATH", options.path, "A rules file, or a directory of them")->required();
  command->add_flag("--cluster", options.cluster,
                    "For a server with --cluster: limits may be replicated");
  command->callback([&] { exit_code = weir::RunCheck(options, Out(), Errors()); });
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
             "With --role limiter: the HTTP front of the server that has the configuration; "
             "https://… with TLS");
  AddSetting(command, "--config-token", settings.config_token, "A token that it wants");
  AddSetting(command, "--config-tls-ca", settings.config_tls.ca,
             "Who signs its certificate (PEM); without it, whom the machine trusts");
  AddSetting(command, "--config-tls-cert", settings.config_tls.cert,
             "A certificate (PEM) to show to it");
  AddSetting(command, "--config-tls-key", settings.config_tls.key, "The key of that (PEM)");
  AddSetting(command, "--config-tls-name", settings.config_tls.name,
             "The name that its certificate is for, where that is not the host");
  AddSetting(command, "--http", settings.http, "Address of the HTTP front, or off");
  AddSetting(command, "--grpc", settings.grpc, "Address of the gRPC front, or off");
  AddSetting(command, "--resp", settings.resp, "Address of the Redis front, or off");
  AddSetting(command, "--poolcounter", settings.poolcounter,
             "Address of the PoolCounter front, or off");
  AddSetting(command, "--threads", settings.threads, "Threads that serve; 0: one for each core")
      ->check(CLI::Range(0, 1024));
  AddSize(command, "--memory", settings.memory_bytes,
          "What the state of all keys may take, e.g. 512MiB");
  AddSetting(command, "--adhoc", adhoc, "on, or off: requests may not carry limits of their own")
      ->check(CLI::IsMember({"on", "off"}));
  const auto coordinations = CLI::IsMember(
      {"local", "replicated", "replicated:debt", "replicated:queue", "replicated:counter"});
  AddSetting(command, "--adhoc-coordination", settings.adhoc_coordination,
             "How nodes of a cluster count limits that requests carry: local, each alone; "
             "replicated, together; replicated:debt, :queue or :counter")
      ->check(coordinations);
  AddSetting(command, "--ratelimit-coordination", settings.ratelimit_coordination,
             "The same for the limits of --ratelimit-config")
      ->check(coordinations);
  AddSetting(command, "--data", settings.data, "A directory for what is kept");
  AddDuration(command, "--persist-interval", settings.persist_interval,
              "How often the use of limits with `persist` is written down there")
      ->check(AtLeast(std::chrono::milliseconds(1)));
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
             "Lines TOKEN read|write|decide|metrics NAMESPACE: who may do what; without it, only "
             "this machine sees statistics and the configuration, and changes it");
  command
      ->add_flag("--decisions-open", settings.decisions_open,
                 "Decisions need no token, although there is a token file")
      ->envname("WEIR_DECISIONS_OPEN");
  command
      ->add_flag("--metrics-open", settings.metrics_open,
                 "Metrics need no token, although there is a token file")
      ->envname("WEIR_METRICS_OPEN");
  AddSetting(command, "--cors", settings.cors,
             "Origins whose web pages may ask for decisions, e.g. https://shop.example; *: all")
      ->delimiter(',');
  AddSetting(command, "--trusted-hops", settings.trusted_hops,
             "Proxies whose X-Forwarded-For counts, e.g. 10.0.0.0/8,127.0.0.1/32")
      ->delimiter(',');
  AddSetting(command, "--max-connections", settings.max_connections,
             "Connections of a front on a thread; beyond, the idlest is closed")
      ->check(CLI::Range(uint64_t{1}, uint64_t{10'000'000}));
  AddDuration(command, "--request-timeout", settings.request_timeout,
              "How long a request may take to arrive, and an answer to be read")
      ->check(AtLeast(std::chrono::milliseconds(10)));
  AddSize(command, "--connection-memory", settings.connection_memory,
          "What all connections may take, e.g. 256MiB; beyond, the greediest is closed; 0: a "
          "quarter of the memory that there is");
  AddDuration(command, "--deadline", settings.deadline,
              "How long a request of HTTP or gRPC may wait for its turn before it is answered "
              "`overloaded`; 0s: for ever");
  AddDuration(command, "--drain-timeout", settings.drain_timeout,
              "How long open requests have to end after SIGTERM");
  AddDuration(command, "--session-timeout", settings.session_timeout,
              "How long a client that was cut off keeps what it holds")
      ->check(AtLeast(std::chrono::seconds(1)));
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

// What clients alone are told is WEIR_CLIENT_…: WEIR_DEADLINE and WEIR_TLS_CERT are `serve`'s.
void AddClientTls(CLI::App* command, weir::ClientTls& tls) {
  const char* const prefix = "WEIR_CLIENT_";
  AddSetting(command, "--tls-ca", tls.ca,
             "Who signs the server's certificate (PEM); without it, whom the machine trusts",
             prefix);
  AddSetting(command, "--tls-cert", tls.cert, "A certificate (PEM) to show to the server", prefix);
  AddSetting(command, "--tls-key", tls.key, "The key of that (PEM)", prefix);
  AddSetting(command, "--tls-name", tls.name,
             "The name that the server's certificate is for, where that is not the host", prefix);
}

weir::ClientOptions& AddClient(CLI::App* command, weir::Duration deadline = {}) {
  static std::list<weir::ClientOptions> all;
  weir::ClientOptions& options = all.emplace_back();
  if (deadline != weir::Duration{}) options.deadline = deadline;
  AddSetting(command, "--server", options.server,
             "Address of a server's HTTP front; https://HOST:PORT with TLS");
  AddSetting(command, "--token", options.token,
             "Where the server wants one (its --token-file says who may what)");
  AddDuration(command, "--deadline", options.deadline, "How long the answer may take",
              "WEIR_CLIENT_")
      ->check(AtLeast(std::chrono::milliseconds(1)));
  AddClientTls(command, options.tls);
  command->add_flag("--json", options.json, "Print the answer as JSON");
  return options;
}

void AddRequest(CLI::App& app, int& exit_code, const char* name, const char* help) {
  static std::list<weir::RequestArguments> all;
  weir::RequestArguments& arguments = all.emplace_back();
  arguments.peek = std::string(name) == "peek";
  CLI::App* command = app.add_subcommand(name, help);
  weir::ClientOptions& options = AddClient(command);
  AddOption(command, "NAMESPACE", arguments.namespace_name)->required();
  AddOption(command, "RESOURCE", arguments.resource)->required();
  AddOption(command, "SUBJECT", arguments.subject)->required();
  AddOption(command, "--cost", arguments.cost, "How much it takes")->capture_default_str();
  AddOption(command, "--min-cost", arguments.min_cost, "Take as little as this");
  if (!arguments.peek) {
    command->add_flag("--settle", arguments.settle, "The true cost will be told with `settle`");
  }
  command->callback([&] { exit_code = weir::RunRequest(options, arguments, Out(), Errors()); });
}

void AddSettle(CLI::App& app, int& exit_code) {
  static weir::SettleArguments arguments;
  CLI::App* command = app.add_subcommand("settle", "Tell a running server the true cost");
  weir::ClientOptions& options = AddClient(command);
  AddOption(command, "TICKET", arguments.ticket)->required();
  AddOption(command, "COST", arguments.cost)->required();
  command->callback([&] { exit_code = weir::RunSettle(options, arguments, Out(), Errors()); });
}

void AddReserve(CLI::App& app, int& exit_code) {
  static weir::ReserveArguments arguments;
  CLI::App* command = app.add_subcommand("reserve", "Run a command while holding copies");
  AddSetting(command, "--resp", arguments.resp,
             "Address of a server's Redis front; rediss://HOST:PORT with TLS", "WEIR_SERVER_");
  AddSetting(command, "--token", arguments.token, "Its password, where the server wants one");
  AddDuration(command, "--deadline", arguments.deadline, "How long an answer may take",
              "WEIR_CLIENT_")
      ->check(AtLeast(std::chrono::milliseconds(1)));
  AddClientTls(command, arguments.tls);
  AddOption(command, "NAMESPACE", arguments.namespace_name)->required();
  AddOption(command, "RESOURCE", arguments.resource)->required();
  AddOption(command, "SUBJECT", arguments.subject)->required();
  AddOption(command, "--copies", arguments.copies, "How many to hold")->capture_default_str();
  AddDuration(command, "--wait", arguments.wait, "How long to wait for them");
  AddOption(command, "COMMAND", arguments.command, "What to run, behind --")->required();
  command->callback([&] { exit_code = weir::RunReserve(arguments, Errors()); });
}

using ConfigRun = int (*)(const weir::ClientOptions&, const weir::ConfigArguments&, weir::Terminal&,
                          weir::Terminal&);

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
    AddOption(command, "FILE", arguments.file, "A rules file, or a directory of them")->required();
  } else {
    AddOption(command, "--format", arguments.format, "yaml or json")
        ->check(CLI::IsMember({"yaml", "json"}))
        ->capture_default_str();
  }
  const char* user = std::getenv("USER");
  arguments.who =
      std::string("command line") + (user == nullptr ? "" : " of ") + (user ? user : "");
  command->callback([&options, &arguments, &exit_code, run] {
    exit_code = run(options, arguments, Out(), Errors());
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
  AddOption(command, "--http", options.server, "The same as --server");
  command->callback([&] { exit_code = weir::RunClusterStatus(options, Out(), Errors()); });
}

void AddTop(CLI::App& app, int& exit_code) {
  static weir::TopArguments arguments;
  CLI::App* command =
      app.add_subcommand("top", "Watch rates, the busiest and the most refused subjects");
  weir::ClientOptions& options = AddClient(command);
  AddOption(command, "NAMESPACE", arguments.namespace_name, "Only this namespace");
  AddOption(command, "RESOURCE", arguments.resource, "Only this resource");
  command->add_flag("--once", arguments.once, "Print once and stop");
  command->callback([&] {
    arguments.terminal = IsTerminal(STDOUT_FILENO);
    exit_code = weir::RunTop(options, arguments, Out(), Errors());
  });
}

int NoCommand(const std::string& name) {
  Errors().Print("weir: no command '{}'; 'weir help' lists them\n", name);
  return 2;
}

// `weir help`, `weir help serve`, `weir help config import`.
int PrintHelp(CLI::App& app, const std::string& all, const std::vector<std::string>& names) {
  if (names.empty()) {
    Out().Lines(all);
    return 0;
  }
  CLI::App* command = &app;
  std::string prefix, spelled;
  for (const std::string& name : names) {
    spelled += (spelled.empty() ? "" : " ") + name;
    const auto is_it = [&](const CLI::App* one) { return one->get_name() == name; };
    const std::vector<CLI::App*> found = command->get_subcommands(is_it);
    if (found.empty()) return NoCommand(spelled);
    prefix += (prefix.empty() ? "" : " ") + command->get_name();
    command = found.front();
  }
  Out().Lines(command->help(prefix));
  return 0;
}

void AddHelpAndVersion(CLI::App& app, int& exit_code) {
  static std::string help;  // taken before parsing, after which it would be the help of `help`
  static std::vector<std::string> names;
  CLI::App* command = app.add_subcommand("help", "List the commands, or the options of one");
  AddOption(command, "COMMAND", names, "Of which command");
  command->callback([&] { exit_code = PrintHelp(app, help, names); });
  app.add_subcommand("version", "Print the version")->callback([] {
    Out().Print("weir {}\n", weir::Version());
  });
  help = app.help();
}

// A word such as -1 that stands where no option's value does. CLI11 takes it for an option.
const char* NegativeNumber(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i], before = argv[i - 1];
    if (word == "--") return nullptr;
    const bool number = word.size() > 1 && word[0] == '-' && (std::isdigit(word[1]) != 0);
    if (number && !before.starts_with("-")) return argv[i];
  }
  return nullptr;
}

int Parse(CLI::App& app, int argc, char** argv) {
  try {
    app.parse(argc, argv);
    return 0;
  } catch (const CLI::ParseError& error) {
    std::ostringstream out, errors;
    const int code = app.exit(error, out, errors);
    Out().Lines(out.str());
    if (code == 0) return 0;  // help and version are no mistakes
    Errors().Print("{}\nRun with --help for more information.\n", error.what());
    return 2;
  } catch (const nlohmann::json::exception& error) {
    Errors().Print("error: the answer is not that of a Weir server ({})\n", error.what());
    return 2;
  }
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
  AddHelpAndVersion(app, exit_code);
  const auto is_asked_for = [&](const CLI::App* one) { return one->get_name() == argv[1]; };
  if (argc > 1 && argv[1][0] != '-' && app.get_subcommands(is_asked_for).empty()) {
    return NoCommand(argv[1]);
  }
  if (argc == 1) {
    Errors().Lines(app.help());
    return 2;
  }
  if (const char* const number = NegativeNumber(argc, argv)) {
    Errors().Print(
        "weir {}: '{}' is not a whole number from 0, nor an option; what begins with - "
        "and is neither goes behind --\n",
        argv[1], number);
    return 2;
  }
  const int code = Parse(app, argc, argv);
  return code != 0 ? code : exit_code;
}
