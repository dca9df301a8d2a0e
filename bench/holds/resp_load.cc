#include "bench/holds/resp_load.h"

#include <initializer_list>
#include <stdexcept>

namespace weir::bench {
namespace {

constexpr std::string_view kHold = "hold\r\n$32\r\n", kGroups = "groups\r\n*0\r\n";
constexpr size_t kHoldLength = 32;
constexpr size_t kSubjects = 100'000;

size_t CountOf(std::string_view text, std::string_view part) {
  size_t count = 0;
  for (size_t at = 0; (at = text.find(part, at)) != std::string_view::npos; at += part.size()) {
    count += 1;
  }
  return count;
}

// As client libraries send it.
void AddCommand(std::initializer_list<std::string_view> words, std::string& out) {
  out += "*" + std::to_string(words.size()) + "\r\n";
  for (const std::string_view word : words) {
    out += "$" + std::to_string(word.size()) + "\r\n";
    out.append(word).append("\r\n");
  }
}

}  // namespace

RespLoad::RespLoad(int port, size_t connections) : answers_(connections) {
  for (size_t i = 0; i < connections; ++i) sockets_.push_back(std::make_unique<LoadSocket>(port));
}

template <typename Command>
void RespLoad::Round(size_t in_flight, std::string_view end, Command command) {
  std::string out;
  for (size_t i = 0; i < sockets_.size(); ++i) {
    out.clear();
    for (size_t k = 0; k < in_flight; ++k) command(i, k, out);
    sockets_[i]->Send(out);
  }
  for (size_t i = 0; i < sockets_.size(); ++i) {
    std::string& in = answers_[i];
    in.clear();
    while (CountOf(in, end) < in_flight) {
      sockets_[i]->Receive(in);
      if (in.starts_with('-')) throw std::runtime_error("the server answers " + in);
    }
  }
}

void RespLoad::Throttle(size_t times, size_t in_flight) {
  const size_t rounds = times / (in_flight * sockets_.size());
  for (size_t i = 0; i < rounds; ++i) {
    // Five numbers. What is left of the last one when the next round begins does no harm.
    Round(in_flight, "*5\r\n", [&](size_t, size_t, std::string& out) {
      const std::string key = "key:" + std::to_string(subject_++ % kSubjects);
      AddCommand({"CL.THROTTLE", key, "1000000", "1000000", "1"}, out);
    });
  }
}

void RespLoad::Hold(size_t times, size_t in_flight) {
  const size_t rounds = times / (in_flight * sockets_.size());
  for (size_t i = 0; i < rounds; ++i) {
    Round(in_flight, kGroups, [&](size_t, size_t, std::string& out) {
      const std::string subject = std::to_string(subject_++ % kSubjects);
      AddCommand({"WEIR.RESERVE", "bench", "seats", subject}, out);
    });
  }
}

void RespLoad::ReserveAndRelease(size_t times, size_t in_flight) {
  const size_t rounds = times / (in_flight * sockets_.size());
  std::vector<std::vector<std::string>> holds(sockets_.size());
  for (size_t i = 0; i < rounds; ++i) {
    Hold(in_flight * sockets_.size(), in_flight);
    for (size_t c = 0; c < sockets_.size(); ++c) {
      holds[c].clear();
      for (size_t at = 0; (at = answers_[c].find(kHold, at)) != std::string::npos;) {
        holds[c].push_back(answers_[c].substr(at + kHold.size(), kHoldLength));
        at += kHold.size() + kHoldLength;
      }
      if (holds[c].size() != in_flight) throw std::runtime_error("not every copy was granted");
    }
    Round(in_flight, "copies\r\n:0\r\n", [&](size_t c, size_t k, std::string& out) {
      AddCommand({"WEIR.RELEASE", holds[c][k]}, out);
    });
  }
}

}  // namespace weir::bench
