#include "clients/cpp/src/connection.h"

#include <hiredis/hiredis.h>

#include <utility>

namespace weir::client {
namespace {

constexpr size_t kLongestAnswer = size_t{4} << 20;

struct ReplyDeleter {
  void operator()(redisReply* reply) const { freeReplyObject(reply); }
};

Value ToValue(const redisReply& reply) {
  switch (reply.type) {
    case REDIS_REPLY_INTEGER: return Value::Integer(reply.integer);
    case REDIS_REPLY_STRING:
    case REDIS_REPLY_STATUS: return Value::Text({reply.str, reply.len});
    case REDIS_REPLY_ERROR: return Value::Error({reply.str, reply.len});
    case REDIS_REPLY_ARRAY: {
      std::vector<Value> items;
      items.reserve(reply.elements);
      for (size_t i = 0; i < reply.elements; ++i) items.push_back(ToValue(*reply.element[i]));
      return Value::List(std::move(items));
    }
    default: return {};
  }
}

}  // namespace

void Connection::ReaderDeleter::operator()(redisReader* reader) const { redisReaderFree(reader); }

Connection::Connection(const std::string& address, const TlsContext* tls, Duration deadline)
    : Session(address),
      stream_(ParseAddress(address), tls, deadline),
      reader_(redisReaderCreate()) {}

Connection::~Connection() = default;

Value Connection::Ask(const std::vector<std::string>& words, Duration deadline, bool undo_if_late) {
  ReadOwed(deadline);
  Say(words);
  Owe(undo_if_late ? Owed::kUndone : Owed::kIgnored);
  Value answer = Next(deadline);
  owed_.clear();
  owes_ = false;
  return answer;
}

void Connection::ReadOwed(Duration deadline) {
  while (!owed_.empty()) {
    const Value answer = Next(deadline);
    const bool undo = owed_.front() == Owed::kUndone;
    owed_.pop_front();
    const Value* const hold = undo ? answer.Field("hold") : nullptr;
    if (hold == nullptr || hold->kind != Value::Kind::kText) continue;
    Say({"WEIR.RELEASE", hold->text});
    Owe(Owed::kIgnored);
  }
  owes_ = false;
}

void Connection::Owe(Owed what) {
  owed_.push_back(what);
  owes_ = true;
}

void Connection::Say(const std::vector<std::string>& words) {
  std::string command = "*" + std::to_string(words.size()) + "\r\n";
  for (const std::string& word : words) {
    command += "$" + std::to_string(word.size()) + "\r\n" + word + "\r\n";
  }
  stream_.Queue(command);
}

Value Connection::Next(Duration deadline) {
  stream_.Flush(deadline);
  for (;;) {
    void* found = nullptr;
    if (redisReaderGetReply(reader_.get(), &found) != REDIS_OK) {
      throw Failure(Code::kInternal, reader_->errstr);
    }
    if (found != nullptr) {
      const std::unique_ptr<redisReply, ReplyDeleter> reply(static_cast<redisReply*>(found));
      return ToValue(*reply);
    }
    if (reader_->len > kLongestAnswer) throw Failure(Code::kInternal, "an answer without an end");
    const std::string bytes = stream_.Read(deadline);
    redisReaderFeed(reader_.get(), bytes.data(), bytes.size());
  }
}

}  // namespace weir::client
