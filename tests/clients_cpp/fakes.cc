#include "tests/clients_cpp/fakes.h"

#include <algorithm>

namespace weir::client {

Answer FakeWire::Ask(const Question& question) {
  questions.push_back(question);
  Value value = answer_(question);
  if (question.place == Place::kAnywhere) return {std::move(value)};
  if (question.session) return {std::move(value), question.session};
  std::shared_ptr<Session>& session = sessions[question.address];
  if (!session || !session->alive()) session = std::make_shared<Session>(question.address);
  return {std::move(value), session};
}

std::vector<Question> FakeWire::Asked(const std::string& name) const {
  std::vector<Question> found;
  std::copy_if(questions.begin(), questions.end(), std::back_inserter(found),
               [&](const Question& one) { return one.words[0] == name; });
  return found;
}

Value Map(std::vector<std::pair<std::string, Value>> fields) {
  std::vector<Value> items;
  for (auto& [name, value] : fields) {
    items.push_back(Value::Text(name));
    items.push_back(std::move(value));
  }
  return Value::List(std::move(items));
}

Value Allowed(int64_t granted) {
  return Map({{"allowed", Value::Integer(1)}, {"granted", Value::Integer(granted)}});
}

Value RefusedFor(std::chrono::milliseconds retry_after) {
  return Map({{"allowed", Value::Integer(0)},
              {"retry_after_ms", Value::Integer(retry_after.count())},
              {"limit", Value::Text("burst")}});
}

Value Granted(int64_t granted, const std::string& hold) {
  return Map({{"allowed", Value::Integer(1)},
              {"outcome", Value::Text("granted")},
              {"granted", Value::Integer(granted)},
              {"hold", Value::Text(hold)}});
}

Value NotGranted(const std::string& outcome) {
  return Map({{"allowed", Value::Integer(0)}, {"outcome", Value::Text(outcome)}});
}

int64_t Option(const Question& question, const std::string& name, int64_t otherwise) {
  const auto& words = question.words;
  const auto at = std::find(words.begin(), words.end(), name);
  return at == words.end() ? otherwise : std::stoll(*(at + 1));
}

Value CopyServer::operator()(const Question& question) {
  const std::string& name = question.words[0];
  if (name == "WEIR.REQUEST" || name == "WEIR.RESERVE") {
    const bool rate = name == "WEIR.REQUEST";
    const int64_t wanted = Option(question, rate ? "COST" : "COPIES", 1);
    int64_t& left = free[question.words[2]];
    const int64_t granted = std::min(wanted, left);
    if (granted < Option(question, "MIN", wanted)) return rate ? RefusedFor(1s) : NotGranted();
    left -= granted;
    return rate ? Allowed(granted) : Granted(granted, Hold(question.words[2], granted));
  }
  Held& held = held_.at(question.words[1]);
  if (name == "WEIR.SEIZE") {
    return Map({{"hold", Value::Text(question.words[1])},
                {"namespace", Value::Text("shop")},
                {"resource", Value::Text(held.resource)},
                {"subject", Value::Text("ann")},
                {"copies", Value::Integer(held.copies)}});
  }
  const int64_t copies = Option(question, "COPIES", held.copies);
  if (copies > held.copies) return Value::Error("NOT_HELD more than there are");
  held.copies -= copies;
  const std::string resource = held.resource;
  if (name == "WEIR.TRANSFER") return Map({{"transfer", Value::Text(Hold(resource, copies))}});
  free[resource] += copies;
  return Map({{"copies", Value::Integer(held.copies)}});
}

std::string CopyServer::Hold(const std::string& resource, int64_t copies) {
  std::string name = "h" + std::to_string(held_.size());
  held_[name] = {resource, copies};
  return name;
}

Bench::Bench(std::function<Value(const Question&)> answer, Options options)
    : wire(std::make_shared<FakeWire>(std::move(answer))), client(Complete(std::move(options))) {}

Options Bench::Complete(Options options) {
  if (options.addresses.empty()) options.addresses = {"a:1"};
  if (options.kill_switch == nullptr) options.kill_switch = &kill_switch;
  options.clock = clock;
  options.wire = wire;
  return options;
}

}  // namespace weir::client
