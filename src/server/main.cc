// The command line. CLI11 is included here and nowhere else: it takes nine seconds to compile.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <iostream>
#include <string>

#include "server/check_command.h"
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
  command->callback([&] {
    options.colours = WantsColours() && IsTerminal(STDERR_FILENO);
    exit_code = weir::RunCheck(options, std::cout, std::cerr);
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
  AddTry(app, exit_code);
  AddCheck(app, exit_code);
  AddHelpAndVersion(app);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;  // help and version are no mistakes
  }
  return exit_code;
}
