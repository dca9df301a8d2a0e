// Whose request it is, by address. A peer's word for it (X-Forwarded-For) counts only if the peer is
// a hop that we trust; then the list is walked from its right end, which the nearest hop wrote, over
// further trusted hops to the first address that is none of them.
//
//   X-Forwarded-For: 6.6.6.6, 203.0.113.9, 10.0.0.2      from 10.0.0.1, with 10.0.0.0/8 trusted
//                    ^ may be  ^ the client
//                      invented
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "fronts/http/address.h"
#include "fronts/http/http_request.h"

namespace weir::http {

// One text for each address, written into `text`. Nothing if a trusted hop's word is no address.
std::optional<std::string_view> ClientAddress(const HttpRequest& request,
                                              std::span<const Network> trusted_hops,
                                              Address::Text& text);

}  // namespace weir::http
