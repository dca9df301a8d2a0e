#include "lab/command_line/command_line.h"

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <filesystem>
#include <sstream>

#include "lab/print.h"

namespace weir::lab {

namespace {

// Not CLI::Range, which takes -18446744073709551615 for 1.
CLI::Validator Within(const CommandLine::Bounds& bounds) {
  const std::string range = fmt::format("in [{} - {}]", bounds.least, bounds.most);
  return CLI::Validator(
      [bounds, range](const std::string& text) {
        uint64_t number = 0;
        const char* const end = text.data() + text.size();
        const auto [stop, error] = std::from_chars(text.data(), end, number);
        const bool good =
            error == std::errc() && stop == end && number >= bounds.least && number <= bounds.most;
        return good ? std::string() : text + " is no whole number " + range;
      },
      range);
}

}  // namespace

struct CommandLine::Parser {
  CLI::App app;
};

CommandLine::CommandLine(std::string what, std::string name)
    : name_(name), parser_(new Parser{CLI::App(std::move(what), std::move(name))}) {}

CommandLine::~CommandLine() = default;

void CommandLine::Word(const std::string& name, std::string& value, const std::string& help,
                       Need need) {
  CLI::Option* const option =
      parser_->app.add_option(name, value, help)->required(need == Need::kRequired);
  if (!value.empty()) option->capture_default_str();
}

void CommandLine::OneOf(const std::string& name, std::string& value, const std::string& help,
                        std::vector<std::string> choices) {
  parser_->app.add_option(name, value, help)
      ->check(CLI::IsMember(std::move(choices)))
      ->capture_default_str();
}

void CommandLine::Words(const std::string& name, std::vector<std::string>& values,
                        const std::string& help) {
  parser_->app.add_option(name, values, help)->allow_extra_args(false);
}

void CommandLine::Real(const std::string& name, double& value, const std::string& help,
                       double least, double most) {
  parser_->app.add_option(name, value, help)->check(CLI::Range(least, most))->capture_default_str();
}

void CommandLine::Flag(const std::string& name, bool& value, const std::string& help) {
  parser_->app.add_flag(name, value, help);
}

void CommandLine::AddNumber(const std::string& name, uint64_t value, const std::string& help,
                            const Bounds& bounds, Need need, std::function<void(uint64_t)> set) {
  CLI::Option* const option = parser_->app.add_option_function<uint64_t>(name, set, help)
                                  ->check(Within(bounds))
                                  ->required(need == Need::kRequired);
  if (value != 0) option->default_str(std::to_string(value));
}

void CommandLine::Footer(const std::string& text) { parser_->app.footer(text); }

int CommandLine::Run(std::span<const std::string> arguments, const std::function<int()>& run) {
  try {
    parser_->app.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));
    return run();
  } catch (const CLI::ParseError& error) {
    std::ostringstream help, mistake;  // which may have words of the user's
    const int code = parser_->app.exit(error, help, mistake);
    std::fputs(PlainLines(help.str()).c_str(), stdout);
    std::fputs(PlainLines(mistake.str()).c_str(), stderr);
    return code == 0 ? 0 : 2;
  } catch (const std::exception& error) {
    PrintError("{}: {}\n", name_, error.what());
    return 2;
  }
}

std::string NeighbourServer() {
  return (std::filesystem::read_symlink("/proc/self/exe").parent_path() / "weir").string();
}

}  // namespace weir::lab
