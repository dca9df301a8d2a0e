// What stands before every handler: who asks over HTTP, and whether he may.
//
// A request is local if its peer is this machine and nothing speaks against it:
//
//   Host        must name loopback (localhost, 127.0.0.0/8, ::1) or the address that is listened on.
//               A page whose own name was made to lead here (DNS rebinding) is of the same origin to
//               its browser, but the browser still tells that name.
//   a hop       (Forwarded, Via, X-Forwarded-…, X-Real-IP): a proxy on this machine passes on what
//               strangers ask, whether its word on their addresses is believed or not.
//   Origin,     of another site: its page is open in a browser on this machine.
//   Sec-Fetch-Site
//
// A decision is asked for by anybody, but not by pages of other sites that nobody has allowed: what a
// browser sends without asking first (a "simple" request of CORS) is refused, unless its origin is
// listed. What it has to ask for first (a body in application/json, a header of one's own) it does not
// send, since the question is answered only for listed origins.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "fronts/access.h"
#include "fronts/http/request_head.h"
#include "weir/error.h"

namespace weir::http {

// What a stranger is told.
inline constexpr std::string_view kTokenNeeded =
    "a token that may do this is needed (Authorization: Bearer TOKEN); without --token-file only "
    "this "
    "machine may, asking loopback by its address or as localhost, through no proxy and from no web "
    "page of others";

// What follows `Bearer`, in whatever letters that is written; empty: there is none.
std::string_view TokenOf(std::string_view authorization);

struct GateOptions {
  const AccessPolicy* policy = nullptr;     // null: everybody may do everything
  bool decisions_open = true;               // the policy need not be asked for decisions
  std::vector<std::string> cors = {};       // origins whose pages may ask for decisions; "*": all
  std::vector<std::string> own_names = {};  // hosts that are listened on
};

class Gate {
 public:
  explicit Gate(GateOptions options) : options_(std::move(options)) {}

  // Where nothing depends on it, nobody is taken to be local.
  Asker WhoAsks(Operation what, const RequestHead& head, bool from_loopback) const;

  struct Refusal {
    int status;
    std::string_view code, message;
  };
  // Whether he may do it on some namespace; on which, the handler asks, of decisions by the reach that
  // is written to `reach`.
  std::optional<Refusal> Refuse(Operation what, const RequestHead& head, const Asker& who,
                                const Reach*& reach) const;

  const AccessPolicy* policy() const { return options_.policy; }
  // Is this the origin of pages that may ask for decisions?
  bool Lists(std::string_view origin) const;

  // Headers of an answer to a page of a listed origin, and of the answer to its browser's question.
  static std::string CorsHeaders(std::string_view origin);
  static std::string PreflightHeaders(std::string_view origin);

 private:
  bool NamesThisMachine(std::string_view host) const;
  bool IsForeign(std::string_view origin) const;

  const GateOptions options_;
};

}  // namespace weir::http
