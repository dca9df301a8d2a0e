// A request as handlers see it. Views are valid until the handler returns: one that answers later
// copies what it needs.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "fronts/access.h"
#include "fronts/http/query.h"
#include "fronts/http/request_head.h"
#include "fronts/letters.h"
#include "fronts/protocol.h"
#include "fronts/way_back.h"

namespace weir::http {

struct HttpRequest {
  std::string_view method;
  std::string_view path;  // as sent, without the query
  std::string_view rest;  // of the path, behind the route's prefix
  std::span<const Parameter> parameters;
  std::span<const Header> headers;
  std::string_view body;
  std::string_view peer;                 // the address at the other end of the connection
  Asker who;                             // asks
  const AccessPolicy* policy = nullptr;  // null: everybody may do everything
  const Reach* reach = &kEverywhere;     // of who asks, where he asks for decisions
  Turn::Field now;
  Link* link = nullptr;         // for handlers that answer later, from another thread: Post
  WayBack* way_back = nullptr;  // the same, where the connection may be gone by then

  // On this namespace; empty: on all.
  bool May(Operation what, std::string_view ns) const {
    return policy == nullptr || policy->May(what, ns, who);
  }

  std::optional<std::string_view> FindHeader(std::string_view name) const {
    for (const Header& header : headers) {
      if (SameWord(header.name, name)) return header.value;
    }
    return std::nullopt;
  }
  std::optional<std::string_view> FindParameter(std::string_view name) const {
    for (const Parameter& parameter : parameters) {
      if (parameter.name == name) return parameter.value;
    }
    return std::nullopt;
  }
};

}  // namespace weir::http
