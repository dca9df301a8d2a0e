#include "lab/replicated/trace.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <sstream>

#include <absl/container/flat_hash_map.h>

#include "lab/replicated/trace_json.h"

namespace weir::lab {
namespace {

constexpr Instant kReplayFrom = FromNanos(1'800'000'000'000'000'000);
constexpr uint64_t kMostCost = uint64_t{1} << 40;
constexpr int64_t kMostLength = int64_t{366} * 86'400 * 1'000'000'000;

class Reader {
 public:
  void Add(std::string_view time, std::string_view subject, std::string_view cost, size_t line) {
    try {
      Add(time, subject, cost);
    } catch (const TraceError& error) {
      throw TraceError(fmt::format("line {}: {}", line, error.what()));
    }
  }
  Trace Finish();

 private:
  struct Recorded {
    int64_t nanos;
    uint32_t user;
    uint64_t cost;
  };

  void Add(std::string_view time, std::string_view subject, std::string_view cost) {
    if (recorded_.size() == kMostTraceRequests) {
      throw TraceError(fmt::format("more than {} requests", kMostTraceRequests));
    }
    recorded_.push_back({ParseTraceTime(time), UserOf(subject), ParseCost(cost)});
  }
  uint32_t UserOf(std::string_view subject) {
    if (subject.empty()) throw TraceError("the subject is empty");
    if (subject.size() > kMostSubjectBytes) {
      throw TraceError(fmt::format("a subject of more than {} bytes", kMostSubjectBytes));
    }
    const auto number = static_cast<uint32_t>(subjects_.size());
    const auto [it, fresh] = users_.try_emplace(std::string(subject), number);
    if (!fresh) return it->second;
    if (subjects_.size() == kMostTraceSubjects) {
      throw TraceError(fmt::format("more than {} subjects", kMostTraceSubjects));
    }
    subjects_.emplace_back(subject);
    return number;
  }
  static uint64_t ParseCost(std::string_view text) {
    if (text.empty()) return 1;
    uint64_t cost = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), cost);
    if (error != std::errc() || end != text.data() + text.size() || cost > kMostCost) {
      throw TraceError(fmt::format("'{}' is not a cost: a whole number", text.substr(0, 40)));
    }
    return cost;
  }

  std::vector<Recorded> recorded_;
  std::vector<std::string> subjects_;
  absl::flat_hash_map<std::string, uint32_t> users_;
};

Trace Reader::Finish() {
  if (recorded_.empty()) throw TraceError("there is no request in it");
  std::stable_sort(recorded_.begin(), recorded_.end(),
                   [](const Recorded& a, const Recorded& b) { return a.nanos < b.nanos; });
  const int64_t first = recorded_.front().nanos;
  if (recorded_.back().nanos - first > kMostLength) {
    throw TraceError("more than a year lies between the first request and the last");
  }
  Trace trace{{}, std::move(subjects_)};
  trace.requests.reserve(recorded_.size());
  for (const Recorded& one : recorded_) {
    trace.requests.push_back({kReplayFrom + Duration(one.nanos - first), one.user, one.cost});
  }
  return trace;
}

std::string_view Trimmed(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r";
  const size_t from = text.find_first_not_of(kBlank);
  if (from == std::string_view::npos) return {};
  return text.substr(from, text.find_last_not_of(kBlank) + 1 - from);
}

// The text up to the comma, which is taken off.
std::string_view Field(std::string_view& line) {
  const size_t comma = std::min(line.find(','), line.size());
  std::string_view field = Trimmed(line.substr(0, comma));
  line.remove_prefix(std::min(comma + 1, line.size()));
  if (field.size() >= 2 && field.front() == '"' && field.back() == '"') {
    field = field.substr(1, field.size() - 2);
  }
  return field;
}

void ReadCsv(std::string_view text, Reader& reader) {
  for (size_t number = 1; !text.empty(); ++number) {
    const size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (Trimmed(line).empty()) continue;
    const auto commas = std::count(line.begin(), line.end(), ',');
    const std::string_view time = Field(line), subject = Field(line), cost = Field(line);
    if (number == 1 && time == "time") continue;
    if (commas < 1 || commas > 2) {
      throw TraceError(fmt::format("line {}: expected time,subject or time,subject,cost", number));
    }
    reader.Add(time, subject, cost, number);
  }
}

}  // namespace

Trace ParseTrace(std::string_view text) {
  Reader reader;
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  const size_t first = text.find_first_not_of(" \t\r\n");
  if (first != std::string_view::npos && text[first] == '[') {
    ReadJsonTrace(text, [&](const JsonRequest& request) {
      reader.Add(request.time, request.user_id, request.cost, request.line);
    });
  } else {
    ReadCsv(text, reader);
  }
  return reader.Finish();
}

Trace ReadTrace(const std::string& path) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  if (!file) throw TraceError(path + ": cannot be read");
  if (static_cast<size_t>(file.tellg()) > kMostTraceBytes) {
    throw TraceError(fmt::format("{}: more than {} bytes", path, kMostTraceBytes));
  }
  file.seekg(0);
  std::ostringstream text;
  text << file.rdbuf();
  try {
    return ParseTrace(std::move(text).str());
  } catch (const TraceError& error) {
    throw TraceError(path + ": " + error.what());
  }
}

}  // namespace weir::lab
