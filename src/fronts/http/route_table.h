// Which handler answers for a path. Filled before the first connection, then only read.
//
// A path is found exactly, or by the longest prefix; "/v1/config/" is a prefix of "/v1/config/x",
// and "/" of everything.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "fronts/access.h"
#include "fronts/http/http_request.h"
#include "fronts/http/responder.h"

namespace weir::http {

using Handler = std::function<void(const HttpRequest&, Responder)>;

class RouteTable {
 public:
  // `what` it does: who may not (gate.h) does not come to the handler. A handler of GET answers HEAD
  // too, where HEAD has none of its own. A later handler for the same method and path takes the place
  // of the former.
  void Add(std::string_view method, std::string_view path, Operation what, Handler handler);
  void AddPrefix(std::string_view method, std::string_view prefix, Operation what, Handler handler);

  struct Found {
    const Handler* handler = nullptr;
    std::string_view rest;                // of the path, behind a prefix
    std::string allow;                    // where only the method is wrong: those that are right
    Operation what = Operation::kHealth;  // of the handler; of the first, where there is none
  };
  Found Find(std::string_view method, std::string_view path) const;

  // Every path with its method, prefixes with a * behind them.
  struct Listed {
    std::string method, path;
    Operation what;
  };
  std::vector<Listed> List() const;

 private:
  struct Method {
    std::string name;
    Operation what;
    Handler handler;
  };
  struct Route {
    std::string path;
    std::vector<Method> methods;
  };

  static void AddTo(std::vector<Route>& routes, std::string_view method, std::string_view path,
                    Operation what, Handler handler);
  static const Method* FindMethod(const Route& route, std::string_view method);
  static std::string Allowed(const Route& route);

  std::vector<Route> exact_;
  std::vector<Route> prefixes_;  // the longest first
};

}  // namespace weir::http
