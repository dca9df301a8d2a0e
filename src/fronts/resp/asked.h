// What a connection of the Redis protocol has asked the limiter, and how it is answered: at once, or
// later into its gap in the line of answers.
#pragma once

#include "fronts/resp/connection.h"
#include "limiter/call.h"
#include "limiter/call_pool.h"

namespace weir::resp {

// A decision. Belongs to the thread's scratch, or once it waits to itself, until it leaves the line.
class Connection::Asked final : public DecideCall, public AnswerLine::Gap {
 public:
  static CallPool<Asked>& Pool();

  void WaitIn(Connection& connection) {
    connection_ = &connection;
    form_ = connection.form_;  // which may be another when the answer comes
    connection.line_.Leave(*this);
  }
  void Write(Reply reply) const;

  void Answered(const Turn& now) override;
  void Done() override { Pool().GiveBack(std::unique_ptr<Asked>(this)); }
  void Abandoned(const Turn& now) override;

 private:
  Connection* connection_ = nullptr;
  Form form_ = Form::kResp2;
};

// A ticket that is settled elsewhere.
class Connection::Settling final : public SettleCall, public AnswerLine::Gap {
 public:
  static CallPool<Settling>& Pool();

  void WaitIn(Connection& connection) {
    connection_ = &connection;
    form_ = connection.form_;
    connection.line_.Leave(*this);
  }
  void Write(Reply reply) const;

  void Answered(const Turn& now) override;
  void Done() override { Pool().GiveBack(std::unique_ptr<Settling>(this)); }
  void Abandoned(const Turn& now) override;

 private:
  Connection* connection_ = nullptr;
  Form form_ = Form::kResp2;
};

}  // namespace weir::resp
