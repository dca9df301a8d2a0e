#include "server/client/top_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <thread>

#include "server/client/http_client.h"

namespace weir {
namespace {

using OrderedJson = nlohmann::ordered_json;

constexpr size_t kSubjects = 10;  // shown of each list

std::optional<OrderedJson> Fetch(HttpClient& client, const std::string& path, std::string& why) {
  const Result<HttpAnswer> answer = client.Get(path);
  if (!answer) {
    why = answer.error().message;
    return std::nullopt;
  }
  OrderedJson json = OrderedJson::parse(answer->body, nullptr, false);
  if (!json.is_discarded() && answer->status == 200) return json;
  why = fmt::format("the server answers {}", answer->status);
  if (json.is_object() && json.contains("error")) {
    why += ": " + json["error"].value("message", "");
  }
  return std::nullopt;
}

// The last seconds as a line of bars.
std::string Sparkline(const std::vector<uint64_t>& points) {
  static constexpr std::string_view kBars[] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  const uint64_t most = points.empty() ? 0 : *std::max_element(points.begin(), points.end());
  std::string line;
  for (const uint64_t point : points) {
    line += kBars[most == 0 ? 0 : (point * 8 + most - 1) / most];
  }
  return line;
}

std::vector<uint64_t> Last(const OrderedJson& list, size_t n) {
  std::vector<uint64_t> all = list.get<std::vector<uint64_t>>();
  if (all.size() > n) all.erase(all.begin(), all.end() - static_cast<std::ptrdiff_t>(n));
  return all;
}

class Screen {
 public:
  explicit Screen(bool colours) : colours_(colours) {}

  void Line(const std::string& text) { text_ += text + "\n"; }
  std::string Bold(const std::string& text) const { return Paint("1", text); }
  std::string Red(const std::string& text) const { return Paint("31", text); }
  const std::string& text() const { return text_; }

 private:
  std::string Paint(const char* code, const std::string& text) const {
    return colours_ ? fmt::format("\x1b[{}m{}\x1b[0m", code, text) : text;
  }
  const bool colours_;
  std::string text_;
};

void DrawSubjects(const OrderedJson& resource, Screen& screen) {
  const OrderedJson& busiest = resource["busiest"];
  const OrderedJson& refused = resource["most_refused"];
  if (busiest.empty()) return;
  screen.Line(screen.Bold(fmt::format("    {:<28} {:>10}   {:<28} {:>10}", "busiest", "requests",
                                      "most refused", "refusals")));
  const auto cell = [](const OrderedJson& list, size_t i) {
    if (i >= list.size()) return fmt::format("{:<28} {:>10}", "", "");
    return fmt::format("{:<28.28} {:>10}", list[i]["subject"].get<std::string>(),
                       list[i]["count"].get<uint64_t>());
  };
  for (size_t i = 0; i < std::min(kSubjects, std::max(busiest.size(), refused.size())); ++i) {
    screen.Line("    " + cell(busiest, i) + "   " + cell(refused, i));
  }
}

void DrawResource(const OrderedJson& resource, Screen& screen) {
  const auto admitted = Last(resource["seconds"]["admitted"], 30);
  const auto refused = Last(resource["seconds"]["refused"], 30);
  const std::string name =
      resource["namespace"].get<std::string>() + "/" + resource["resource"].get<std::string>();
  const std::string refusals = fmt::format("{:>9}/s", refused.back());
  screen.Line(fmt::format("{:<30.30} {:>9}/s {} {:>13}  {}", name, admitted.back(),
                          refused.back() > 0 ? screen.Red(refusals) : refusals,
                          resource["total"]["cost"].get<uint64_t>(), Sparkline(admitted)));
  DrawSubjects(resource, screen);
}

// Everything once; false, and why, if the server cannot be asked.
bool Draw(HttpClient& client, const TopArguments& arguments, Screen& screen, std::string& why) {
  const auto all = Fetch(client, "/v1/stats?namespace=" + QueryPart(arguments.namespace_name), why);
  if (!all) return false;
  screen.Line(screen.Bold(fmt::format("{:<30} {:>11} {:>11} {:>13}  {}", "resource", "admitted",
                                      "refused", "cost so far", "the last 30 seconds")));
  for (const OrderedJson& one : (*all)["resources"]) {
    if (!arguments.resource.empty() && one["resource"] != arguments.resource) continue;
    const bool unused = one["admitted"] == 0 && one["refused"] == 0;
    if (unused && arguments.resource.empty()) continue;
    const auto resource =
        Fetch(client,
              "/v1/stats?namespace=" + QueryPart(one["namespace"].get<std::string>()) +
                  "&resource=" + QueryPart(one["resource"].get<std::string>()),
              why);
    if (!resource) return false;
    DrawResource(*resource, screen);
  }
  return true;
}

}  // namespace

int RunTop(const ClientOptions& options, const TopArguments& arguments, std::ostream& out,
           std::ostream& errors) {
  HttpClient client(options.server, options.token,
                    std::max(options.deadline, Duration(2'000'000'000)));
  while (true) {
    Screen screen(options.colours);
    std::string why;
    if (!Draw(client, arguments, screen, why)) {
      errors << "error: " << why << "\n";
      return 2;
    }
    if (arguments.terminal && !arguments.once) out << "\x1b[H\x1b[2J";
    out << screen.text() << std::flush;
    if (arguments.once) return 0;
    std::this_thread::sleep_for(std::chrono::seconds(1));
  }
}

}  // namespace weir
