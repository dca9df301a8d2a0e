#include "cli/top_command.h"

#include <algorithm>
#include <chrono>
#include <ctime>
#include <map>
#include <optional>
#include <thread>

#include "base/time_text.h"
#include "cli/full_screen.h"
#include "cli/top_screen.h"
#include "weir/clock.h"

namespace weir {
namespace {

constexpr Duration kEvery = std::chrono::seconds(1);

uint64_t NumberIn(const ServerJson& object, const char* name) {
  const auto found = object.find(name);
  return found != object.end() && found->is_number_unsigned() ? found->get<uint64_t>() : 0;
}

std::vector<uint64_t> NumbersIn(const ServerJson& object, const char* name) {
  std::vector<uint64_t> numbers;
  for (const ServerJson& one : object.value(name, ServerJson::array())) {
    numbers.push_back(one.is_number_unsigned() ? one.get<uint64_t>() : 0);
  }
  return numbers;
}

std::vector<TopSubject> SubjectsIn(const ServerJson& object, const char* name) {
  std::vector<TopSubject> subjects;
  const ServerJson list = object.value(name, ServerJson());
  if (!list.is_array()) return subjects;  // a server that does not tell
  for (const ServerJson& one : list) {
    if (!one.is_object()) continue;
    subjects.push_back({one.value("subject", std::string()), NumberIn(one, "count")});
  }
  return subjects;
}

std::string TimeOfDay() {
  const std::time_t now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  std::tm local{};
  localtime_r(&now, &local);
  return fmt::format("{:02}:{:02}:{:02}", local.tm_hour, local.tm_min, local.tm_sec);
}

// One of the server's resources, as its list tells it.
struct Listed {
  std::string namespace_name, resource;
  uint64_t admitted = 0, refused = 0;
  uint64_t now = 0;  // requests since the list before, or in all
};

class Watcher {
 public:
  Watcher(const ClientOptions& options, const TopArguments& arguments, HttpClient& client)
      : options_(options), arguments_(arguments), client_(client) {}

  // Everything once, for a screen that has room for so many resources.
  Result<TopView> Look(size_t most) {
    Result<std::vector<Listed>> listed = List();
    if (!listed) return listed.error();
    TopView view;
    view.server = options_.server;
    view.time = TimeOfDay();
    for (const Listed& one : *listed) {
      const bool unused = one.admitted + one.refused == 0 && arguments_.resource.empty();
      if (unused) {
        view.unused += 1;
      } else if (view.resources.size() >= most) {
        view.more += 1;
      } else {
        const Result<ServerJson> detail = Detail(one.namespace_name, one.resource);
        if (!detail) return detail.error();
        view.resources.push_back(Understand(one, *detail));
      }
    }
    Sum(view);
    return view;
  }

  Result<ServerJson> LookAsJson() {
    const Result<std::vector<Listed>> listed = List();
    if (!listed) return listed.error();
    ServerJson all = {{"server", options_.server},
                      {"time", InstantText(SystemClock().Now())},
                      {"resources", ServerJson::array()}};
    for (const Listed& one : *listed) {
      Result<ServerJson> detail = Detail(one.namespace_name, one.resource);
      if (!detail) return detail.error();
      all["resources"].push_back(std::move(*detail));
    }
    return all;
  }

 private:
  Result<ServerJson> Detail(const std::string& ns, const std::string& resource) {
    return Understood(
        options_,
        client_.Get("/v1/stats?namespace=" + QueryPart(ns) + "&resource=" + QueryPart(resource)),
        {{"total", &ServerJson::is_object}, {"seconds", &ServerJson::is_object}});
  }

  // Those that were asked for, the busiest first.
  Result<std::vector<Listed>> List() {
    const Result<ServerJson> all = Understood(
        options_, client_.Get("/v1/stats?namespace=" + QueryPart(arguments_.namespace_name)),
        {{"resources", &ServerJson::is_array}});
    if (!all) return all.error();
    std::vector<Listed> listed;
    for (const ServerJson& one : all->value("resources", ServerJson::array())) {
      Listed next{one.value("namespace", std::string()), one.value("resource", std::string()),
                  NumberIn(one, "admitted"), NumberIn(one, "refused")};
      if (!arguments_.resource.empty() && next.resource != arguments_.resource) continue;
      listed.push_back(std::move(next));
    }
    if (listed.empty() && !arguments_.namespace_name.empty()) return Unknown();
    SinceBefore(listed);
    std::stable_sort(listed.begin(), listed.end(),
                     [](const Listed& a, const Listed& b) { return a.now > b.now; });
    return listed;
  }

  Error Unknown() {
    if (arguments_.resource.empty()) {
      return {Code::kUnknownNamespace,
              "the server has no namespace '" + arguments_.namespace_name + "' with resources", ""};
    }
    const Result<ServerJson> detail = Detail(arguments_.namespace_name, arguments_.resource);
    if (!detail) return detail.error();  // in the server's words
    return {Code::kUnknownResource, "the server has no such resource", ""};
  }

  void SinceBefore(std::vector<Listed>& listed) {
    std::map<std::pair<std::string, std::string>, std::pair<uint64_t, uint64_t>> totals;
    uint64_t admitted = 0, refused = 0;
    for (Listed& one : listed) {
      const auto key = std::pair(one.namespace_name, one.resource);
      const auto was = before_.find(key);
      const auto [a, r] = was == before_.end() ? std::pair<uint64_t, uint64_t>() : was->second;
      one.now = one.admitted + one.refused - std::min(one.admitted + one.refused, a + r);
      admitted += one.admitted - std::min(one.admitted, a);
      refused += one.refused - std::min(one.refused, r);
      totals[key] = {one.admitted, one.refused};
    }
    const auto now = std::chrono::steady_clock::now();
    if (!before_.empty() && now > looked_) {
      const double seconds = std::chrono::duration<double>(now - looked_).count();
      rates_ = {static_cast<uint64_t>(static_cast<double>(admitted) / seconds + 0.5),
                static_cast<uint64_t>(static_cast<double>(refused) / seconds + 0.5)};
    }
    looked_ = now;
    before_ = std::move(totals);
  }

  static TopResource Understand(const Listed& one, const ServerJson& detail) {
    TopResource resource;
    resource.name = one.namespace_name + "/" + one.resource;
    resource.cost = NumberIn(detail.value("total", ServerJson::object()), "cost");
    const ServerJson seconds = detail.value("seconds", ServerJson::object());
    resource.admitted = NumbersIn(seconds, "admitted");
    resource.refused = NumbersIn(seconds, "refused");
    resource.busiest = SubjectsIn(detail, "busiest");
    resource.most_refused = SubjectsIn(detail, "most_refused");
    resource.would_refuse = SubjectsIn(detail, "would_refuse");
    return resource;
  }

  // Of all resources since the last look; at the first, of those that are shown in the last second.
  void Sum(TopView& view) const {
    if (rates_) {
      view.admitted_rate = rates_->first;
      view.refused_rate = rates_->second;
      return;
    }
    for (const TopResource& one : view.resources) {
      view.admitted_rate += one.admitted.empty() ? 0 : one.admitted.back();
      view.refused_rate += one.refused.empty() ? 0 : one.refused.back();
    }
  }

  const ClientOptions& options_;
  const TopArguments& arguments_;
  HttpClient& client_;
  std::map<std::pair<std::string, std::string>, std::pair<uint64_t, uint64_t>> before_;
  std::chrono::steady_clock::time_point looked_;
  std::optional<std::pair<uint64_t, uint64_t>> rates_;
};

int PrintJsonLines(Watcher& watcher, bool once, Terminal& out, Terminal& errors) {
  while (true) {
    const Result<ServerJson> all = watcher.LookAsJson();
    if (!all) return PrintError(errors, all.error()), kExitTrouble;
    PrintAnswer(out, *all);
    out.Flush();
    if (once) return 0;
    std::this_thread::sleep_for(kEvery);
  }
}

int PrintTables(Watcher& watcher, bool once, Terminal& out, Terminal& errors) {
  while (true) {
    const Result<TopView> view = watcher.Look(SIZE_MAX);
    if (!view) return PrintError(errors, view.error()), kExitTrouble;
    const ScreenSize size{.columns = SizeOfOutput().columns, .rows = 0};
    for (const std::string& line : DrawTop(*view, size, out.colours())) {
      out.PaintedLines(line);
      out.Print("\n");
    }
    out.Flush();
    if (once) return 0;
    std::this_thread::sleep_for(kEvery);
  }
}

int Redraw(Watcher& watcher, Terminal& out, Terminal& errors) {
  Result<TopView> view = watcher.Look(MostResources(SizeOfOutput()));
  if (!view) return PrintError(errors, view.error()), kExitTrouble;
  TopView shown = *view;
  FullScreen screen(out);
  while (true) {
    screen.Show(DrawTop(shown, SizeOfOutput(), out.colours()));
    switch (screen.Wait(kEvery)) {
      case FullScreen::Event::kQuit: return 0;
      case FullScreen::Event::kSignal: return 128 + screen.signal();
      case FullScreen::Event::kResized: continue;
      case FullScreen::Event::kTime: break;
    }
    view = watcher.Look(MostResources(SizeOfOutput()));
    if (view) shown = *view;
    shown.trouble = view ? "" : view.error().message;
  }
}

}  // namespace

int RunTop(const ClientOptions& options, const TopArguments& arguments, Terminal& out,
           Terminal& errors) {
  ClientOptions patient = options;
  patient.deadline = std::max(options.deadline, Duration(2'000'000'000));
  const Result<std::unique_ptr<HttpClient>> client = OpenClient(patient);
  if (!client) return PrintError(errors, client.error()), kExitTrouble;
  Watcher watcher(patient, arguments, **client);
  if (options.json) return PrintJsonLines(watcher, arguments.once, out, errors);
  if (arguments.once || !arguments.terminal) {
    return PrintTables(watcher, arguments.once, out, errors);
  }
  return Redraw(watcher, out, errors);
}

}  // namespace weir
