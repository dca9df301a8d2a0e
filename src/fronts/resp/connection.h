// One connection of the Redis protocol.
//
// Commands are carried out in the order in which they come, and so are the answers, though some may be
// late (answer_line.h). Requests that stand next to each other (WEIR.REQUEST, WEIR.PEEK, CL.THROTTLE)
// are kept back, at most kBatch of them, and decided together: the memory of all is fetched while the
// first are decided. Any other command first lets them go.
//
// The connection is a session of the limiter, from its first command on holds to its end. While a
// reservation waits nothing more is taken: the bytes come again when it has been answered.
//
// A command is a row of the table in connection.cc: its name, how many words it takes, and the
// function that answers.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "fronts/answer_line.h"
#include "fronts/protocol.h"
#include "fronts/resp/command.h"
#include "fronts/resp/reply.h"
#include "fronts/resp/request_words.h"
#include "fronts/resp/resp_front.h"
#include "fronts/way_back.h"
#include "weir/limiter.h"

namespace weir::resp {

class Connection : public Protocol {
 public:
  // All outlive the connection.
  Connection(Link& link, Limiter& limiter, const RespOptions& options, uint64_t id);
  ~Connection() override {
    way_back_->Close();
    if (!line_.empty()) line_.End(Turn(link_.clock()));  // it was not told that it ends
  }

  size_t Receive(std::string_view in, const Turn& now) override;
  void Tick(const Turn& now) override { LookAtPasswordAgain(now); }
  void Drain(const Turn&) override { draining_ = true; }
  void Closed(const Turn& now) override;
  void HalfClosed(const Turn& now) override;
  size_t bytes() const override {
    return parser_.bytes() + name_.capacity() + password_.capacity() + line_.bytes();
  }
  // Whoever holds copies is not closed to make room for others.
  bool idle() const override { return !partial_ && !session_ && !owes(); }
  bool answering() const override { return waiting_ || line_.full(); }
  bool owes() const override { return waiting_ || !line_.empty(); }
  // The names of all that are understood, in small letters.
  static std::vector<std::string_view> Commands();
  bool done() const override { return (done_ || (draining_ && !partial_)) && !owes(); }

 private:
  struct Row;
  struct Scratch;
  class Asked;
  class Settling;
  // What a request is made of; the reader of its words.
  using Reader = Mistake (Connection::*)(const Words&, Asked&);

  static std::span<const Row> Table();
  static const Row* Find(std::string_view name);
  // Of whoever has given no password; null: he may do nothing.
  const Reach* StrangersReach() const {
    return !options_.password || !options_.password_needed ? &kEverywhere : nullptr;
  }
  bool open() const { return reach_ != nullptr; }
  static Scratch& ThreadScratch();
  Reply Answer() { return Reply(line_.out(), form_); }
  void Carry(const Words& words, bool copied, const Turn& now, Scratch& scratch);
  void AddToBatch(Reader read, const Words& words, bool copied, const Turn& now, Scratch& scratch);
  void DecideBatch(const Turn& now, Scratch& scratch);
  void Refuse(const Row* row, const Words& words);
  void WriteMistake(const Mistake& mistake);

  // What clients of Redis say (redis_commands.cc).
  void Ping(const Words& words, const Turn& now);
  void Echo(const Words& words, const Turn& now);
  void Hello(const Words& words, const Turn& now);
  void Auth(const Words& words, const Turn& now);
  void Select(const Words& words, const Turn& now);
  void Client(const Words& words, const Turn& now);
  void CommandTable(const Words& words, const Turn& now);
  void Info(const Words& words, const Turn& now);
  void Config(const Words& words, const Turn& now);
  void Quit(const Words& words, const Turn& now);
  void Reset(const Words& words, const Turn& now);
  void Stranger(const Words& words, const Turn& now);
  bool LogIn(std::string_view password);
  void LookAtPasswordAgain(const Turn& now);
  bool SetName(std::string_view name);
  std::string Description() const;

  // What the limiter is asked (limiter_commands.cc).
  Mistake ReadRequestWords(const Words& words, Asked& asked);
  Mistake ReadPeekWords(const Words& words, Asked& asked);
  Mistake ReadThrottleWords(const Words& words, Asked& asked);
  void Settle(const Words& words, const Turn& now);

  // What is held (hold_commands.cc).
  void Reserve(const Words& words, const Turn& now);
  void Release(const Words& words, const Turn& now);
  void Transfer(const Words& words, const Turn& now);
  void Seize(const Words& words, const Turn& now);
  const SessionId& Session(const Turn& now);
  void EndSession(const Turn& now);
  void GoOn();  // something was answered: if late, there may be commands behind it

  Link& link_;
  Limiter& limiter_;
  const RespOptions& options_;
  const uint64_t id_;
  AnswerLine line_{link_};

  CommandParser parser_;
  Form form_ = Form::kResp2;
  const Reach* reach_;           // null: a password is needed
  std::string password_;         // that was given
  uint64_t passwords_seen_ = 0;  // the version of those that it was right among
  bool partial_ = false;         // a command has come, or begun, and is not answered
  bool draining_ = false;
  bool done_ = false;
  bool waiting_ = false;  // for copies; nothing more is taken meanwhile
  std::string name_;      // as the client calls itself
  SessionId session_;     // none before the first command on holds
  const std::shared_ptr<WayBack> way_back_;
};

}  // namespace weir::resp
