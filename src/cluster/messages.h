// What nodes tell one another in a datagram, or in a piece of a state: one message after the other,
// each with its length and kind before it.
//
//   greeting   who are you? From the sender of this id; padded, so that the answer is no longer
//   ping       are you there?
//   pong       yes: answers a ping or a greeting, and gives its stamp back
//   envelope   of one limiter to another (mail/envelope.h)
//   ask        tell me everything you know; padded, so that the answer is no longer
//   whole      the envelopes beside this one are all there is
//   large      it is too much for a datagram: come and fetch it
//   nothing    not yet: I am about to ask somebody myself
//   ask me     you were dead to me, and not told what happened meanwhile
//   question   what a client wants of the node that the message is for, with a number
//   answer     to the question of this number
//   bye        I am about to end
//   who        whom do you take for the node of my name?
//   holder     him: his life, his birthmark and his address. Answers `who`, and refuses one who wants a
//              name that another bears. It is a vote, unless the sender's own name is disputed. Beside a
//              pong to one of the sender's own name: the sender itself, which has joined
//   yield      to one of the sender's own name: I would leave it to you. Will you stay?
//   stay       I will: answers that, and gives its stamp back
//   place      a node is there, and not where the list has it
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cluster/seal.h"
#include "weir/instant.h"

namespace weir::cluster {

inline constexpr size_t kMostIdBytes = 64;

// What a ping has to be given back.
inline uint64_t Stamp(Instant now) { return static_cast<uint64_t>(ToNanos(now)); }

// Who somebody says he is.
struct Identity {
  std::string_view id = {};
  // Drawn by chance for each process: so two with one name and one number of life are told apart. 0 is
  // nobody's: an earlier version of Weir had none.
  uint64_t birthmark = 0;
  // Of the secret that names keys of limits (ClusterKey::MarkOfNames); 0: not told.
  uint32_t names = 0;
};

struct Message {
  enum class Kind : uint8_t {
    kGreeting = 1,
    kPing = 2,
    kPong = 3,
    kEnvelope = 4,
    kAsk = 5,
    kWhole = 6,
    kLarge = 7,
    kNothing = 8,
    kAskMe = 9,
    kBye = 10,
    kQuestion = 11,
    kAnswer = 12,
    kWho = 13,
    kHolder = 14,
    kPlace = 15,
    kYield = 16,
    kStay = 17,
  };
  Kind kind = Kind::kPing;
  // Greeting, ping, pong, yield and stay: the sender's own time, for nobody else to understand, and who the sender
  // is; a pong that answers a ping has no name. Question and answer: the question's number.
  uint64_t stamp = 0;
  Identity from = {};
  std::string_view body = {};  // of an envelope, a question, an answer; an address
  uint32_t life = 0;           // a holder's, whose birthmark is in `from`
  bool votes = false;          // who tells the holder
  uint32_t node = 0;           // the number of whoever is at a place
};

// What one is at most around an envelope: its length and kind.
inline constexpr size_t kAroundEnvelopeBytes = 3;
static_assert(kMostEnvelopeBytes + kAroundEnvelopeBytes <= kMostPlainBytes);

inline constexpr size_t kAroundPlaceBytes = 8;  // and around an address

// Of a greeting: all are as long, whatever the name.
size_t GreetingBytes();
void AppendGreeting(uint64_t stamp, const Identity& from, std::string& out);
void AppendPing(uint64_t stamp, const Identity& from, std::string& out);
void AppendPong(uint64_t stamp, const Identity& from, std::string& out);
// kYield or kStay.
void AppendStamped(Message::Kind kind, uint64_t stamp, const Identity& from, std::string& out);
void AppendEnvelope(std::string_view envelope, std::string& out);
void AppendAsk(size_t padding, std::string& out);
// kQuestion or kAnswer.
void AppendNumbered(Message::Kind kind, uint64_t number, std::string_view body, std::string& out);
void AppendHolder(uint32_t life, uint64_t birthmark, bool votes, std::string_view address,
                  std::string& out);
void AppendPlace(uint32_t node, std::string_view address, std::string& out);
void AppendBare(Message::Kind kind, std::string& out);  // without a body

// All of them, or none if anything is wrong. They point into `bytes`.
std::optional<std::vector<Message>> ReadMessages(std::string_view bytes);

// The number of a node: 28 bits of a hash of its id.
uint32_t NodeNumber(std::string_view id);
// Empty, or what is wrong with an id.
std::string IdProblem(std::string_view id);

}  // namespace weir::cluster
