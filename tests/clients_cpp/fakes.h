// A server, a clock and chance that do as they are told.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "weir/client/client.h"

namespace weir::client {

using namespace std::chrono_literals;

// Sleeping moves it.
class FakeClock : public Clock {
 public:
  Duration Now() override { return now; }
  void Sleep(Duration time) override {
    sleeps.push_back(time);
    now += time;
  }
  double Chance() override { return chance; }

  Duration now = 1000s;
  std::vector<Duration> sleeps;
  double chance = 0.5;
};

// Answers each question by `answer`, which may throw.
class FakeWire : public Wire {
 public:
  explicit FakeWire(std::function<Value(const Question&)> answer) : answer_(std::move(answer)) {}
  Answer Ask(const Question& question) override;
  void Close() override {}

  // The questions whose first word is this.
  std::vector<Question> Asked(const std::string& name) const;

  std::vector<Question> questions;
  std::map<std::string, std::shared_ptr<Session>> sessions;

 private:
  const std::function<Value(const Question&)> answer_;
};

[[noreturn]] inline void BeAway() { throw Failure(Code::kUnavailable, "connection refused"); }

// Answers in the server's words.
Value Map(std::vector<std::pair<std::string, Value>> fields);
Value Allowed(int64_t granted = 1);
Value RefusedFor(std::chrono::milliseconds retry_after);
Value Granted(int64_t granted, const std::string& hold);
Value NotGranted(const std::string& outcome = "refused");

// Copies of resources, and rates that give what is free and do not get it back.
class CopyServer {
 public:
  explicit CopyServer(std::map<std::string, int64_t> free) : free(std::move(free)) {}
  Value operator()(const Question& question);

  std::map<std::string, int64_t> free;

 private:
  struct Held {
    std::string resource;
    int64_t copies = 0;
  };
  std::string Hold(const std::string& resource, int64_t copies);

  std::map<std::string, Held> held_;
};

// The number behind a word of a question.
int64_t Option(const Question& question, const std::string& name, int64_t otherwise);

// A client with all of these.
struct Bench {
  explicit Bench(std::function<Value(const Question&)> answer, Options options = {});
  Decision Ask(const RequestOptions& options = {}) {
    return client.Request("shop", "search", "ann", options);
  }

  std::shared_ptr<FakeClock> clock = std::make_shared<FakeClock>();
  std::shared_ptr<FakeWire> wire;
  KillSwitch kill_switch;
  Client client;

 private:
  Options Complete(Options options);
};

// Runs it; the code of the Error that it throws.
template <typename Action>
std::string CodeOf(const Action& action) {
  try {
    action();
  } catch (const Error& error) {
    return std::string(CodeName(error.code()));
  }
  return "none";
}

}  // namespace weir::client
