// The way to servers: words out, a value back. The client knows what to say; a Wire how to carry it.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "weir/client/clock.h"
#include "weir/client/error.h"

namespace weir::client {

// What came back, in the kinds of the Redis protocol. A map is a list of name, value, name, value.
struct Value {
  enum class Kind { kNull, kInteger, kText, kError, kList };
  Kind kind = Kind::kNull;
  int64_t integer = 0;
  std::string text;  // of an error, too: its code, a space, its message
  std::vector<Value> list;

  static Value Integer(int64_t number) { return {Kind::kInteger, number, {}, {}}; }
  static Value Text(std::string text) { return {Kind::kText, 0, std::move(text), {}}; }
  static Value Error(std::string text) { return {Kind::kError, 0, std::move(text), {}}; }
  static Value List(std::vector<Value> items) { return {Kind::kList, 0, {}, std::move(items)}; }

  const Value* Field(std::string_view name) const;  // of a map; null if it has none
};

// Nobody answered: kUnavailable, kDeadlineExceeded or, if it made no sense, kInternal.
class Failure : public Error {
 public:
  using Error::Error;
};

// Whoever has to know that a session has ended.
class Holder {
 public:
  virtual ~Holder() = default;
  virtual void Lose() = 0;
};

// A connection, to which holds are bound: they are lost when it ends.
class Session {
 public:
  explicit Session(std::string address) : address_(std::move(address)) {}
  virtual ~Session() = default;
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  const std::string& address() const { return address_; }
  bool alive() const;
  void Adopt(const std::shared_ptr<Holder>& holder);
  void End();          // tells every holder
  void EndSilently();  // the client itself ends it, which is no loss

 private:
  const std::string address_;
  mutable std::mutex mutex_;  // guards:
  bool alive_ = true;
  std::vector<std::weak_ptr<Holder>> holders_;
};

enum class Place {
  kAnywhere,    // nothing will be held
  kSession,     // what is granted is held by the connection
  kOwnSession,  // the same, and the answer may be waited for: nobody else's holds live there
};

struct Question {
  std::string address;
  std::vector<std::string> words;
  Duration timeout{};  // connecting included
  Place place = Place::kAnywhere;
  std::shared_ptr<Session> session = nullptr;  // that one, rather than any
};

struct Answer {
  Value value;
  std::shared_ptr<Session> session = nullptr;  // unless asked anywhere; it lives while this is kept
};

class Wire {
 public:
  virtual ~Wire() = default;
  // Any thread. Throws Failure; an error that a server answered with is a value.
  virtual Answer Ask(const Question& question) = 0;
  virtual void Close() = 0;
};

}  // namespace weir::client
