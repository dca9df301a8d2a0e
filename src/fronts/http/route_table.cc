#include "fronts/http/route_table.h"

#include <algorithm>

namespace weir::http {

void RouteTable::Add(std::string_view method, std::string_view path, Operation what,
                     Handler handler) {
  AddTo(exact_, method, path, what, std::move(handler));
}

void RouteTable::AddPrefix(std::string_view method, std::string_view prefix, Operation what,
                           Handler handler) {
  AddTo(prefixes_, method, prefix, what, std::move(handler));
  std::stable_sort(prefixes_.begin(), prefixes_.end(),
                   [](const Route& a, const Route& b) { return a.path.size() > b.path.size(); });
}

void RouteTable::AddTo(std::vector<Route>& routes, std::string_view method, std::string_view path,
                       Operation what, Handler handler) {
  auto route = std::find_if(routes.begin(), routes.end(),
                            [&](const Route& known) { return known.path == path; });
  if (route == routes.end()) route = routes.insert(routes.end(), Route{std::string(path), {}});
  for (Method& known : route->methods) {
    if (known.name == method) {
      known = {known.name, what, std::move(handler)};
      return;
    }
  }
  route->methods.push_back({std::string(method), what, std::move(handler)});
}

const RouteTable::Method* RouteTable::FindMethod(const Route& route, std::string_view method) {
  for (const Method& known : route.methods) {
    if (known.name == method) return &known;
  }
  return method == "HEAD" ? FindMethod(route, "GET") : nullptr;
}

std::string RouteTable::Allowed(const Route& route) {
  std::string allow;
  for (const Method& known : route.methods) {
    if (!allow.empty()) allow += ", ";
    allow += known.name;
    if (known.name == "GET") allow += ", HEAD";
  }
  return allow;
}

RouteTable::Found RouteTable::Find(std::string_view method, std::string_view path) const {
  for (const Route& route : exact_) {
    if (route.path != path) continue;
    if (const Method* found = FindMethod(route, method)) {
      return {&found->handler, {}, {}, found->what};
    }
    return {nullptr, {}, Allowed(route), route.methods.front().what};
  }
  for (const Route& route : prefixes_) {
    if (path.substr(0, route.path.size()) != route.path) continue;
    const std::string_view rest = path.substr(route.path.size());
    if (const Method* found = FindMethod(route, method)) {
      return {&found->handler, rest, {}, found->what};
    }
    return {nullptr, rest, Allowed(route), route.methods.front().what};
  }
  return {};
}

std::vector<RouteTable::Listed> RouteTable::List() const {
  std::vector<Listed> all;
  for (const std::vector<Route>* routes : {&exact_, &prefixes_}) {
    for (const Route& route : *routes) {
      for (const Method& method : route.methods) {
        all.push_back({method.name, route.path + (routes == &prefixes_ ? "*" : ""), method.what});
      }
    }
  }
  return all;
}

}  // namespace weir::http
