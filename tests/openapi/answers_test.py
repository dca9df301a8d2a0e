#!/usr/bin/python3
"""Asks a running server everything that api/openapi.json describes, and holds it to the description:
each answer has its schema's fields, no more and no less, every field is in some answer, what is not
described is not answered, who needs a token is told so in the described form, and a body is refused
exactly if its schema refuses it.

    answers_test.py WEIR        WEIR: the program"""

import copy
import http.client
import json
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time

import jsonschema

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
RULES = """
namespaces:
  shop:
    resources:
      search:
        limits: [{name: burst, limit: 3, per: 1h}, {name: watched, limit: 1, per: 1h, shadow: true}]
        overrides: [{subject: vip, limits: [{name: burst, limit: 9}]}]
      open: {}
      tiers: {tiers: {hard_limit: 50, tiers: [{limit: 5, window: 1s, active: 60s}]}}
      seats: {copies: {per_subject: 2, total: 3, groups: [{name: all, limit: 3, others: true}]}}
    contracts: {basic: {subjects: [ann], limits: [{name: daily, limit: 100, per: 1d}]}}
    descriptors: [{key: user, rate_limit: {unit: hour, requests_per_unit: 2}}]
"""

# Fields that no answer here has, and why.
NOT_SEEN = {
    "Decision.degraded": "a store outside has to be away",
    "Refusal.degraded": "likewise",
    "Refusal.ticket": "nothing is to be settled",
}
# What is refused by a handler, with advice, rather than by the table of routes.
ADVISED = {("PATCH", "/v1/config/namespaces"), ("DELETE", "/v1/config/namespaces")}
# Token, role, namespaces: one that may do nothing of what is described but read metrics.
TOKENS = "all write *\nwatch metrics *\n"


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def strict(node):
    """The same schema, but objects whose fields are listed have no others."""
    if isinstance(node, dict):
        node = {key: strict(value) for key, value in node.items()}
        if "properties" in node and isinstance(node["properties"], dict) and node.get("type") == "object":
            node.setdefault("additionalProperties", False)
        return node
    return [strict(one) for one in node] if isinstance(node, list) else node


class Api:
    def __init__(self, port):
        self.port = port
        with open(os.path.join(ROOT, "api/openapi.json"), encoding="utf-8") as file:
            self.text = file.read()
        self.described = json.loads(self.text)
        self.components = self.described["components"]
        self.failures, self.seen, self.fields = [], set(), set()
        self.token = None

    def send(self, method, path, body=None, kind="application/json"):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        headers = {} if body is None else {"Content-Type": kind}
        if self.token is not None:
            headers["Authorization"] = "Bearer " + self.token
        connection.request(method, path, None if body is None else json.dumps(body), headers)
        answer = connection.getresponse()
        text = answer.read().decode()
        connection.close()
        return answer.status, (answer.getheader("Content-Type") or "").split(";")[0], text

    def operation(self, method, path):
        """As written, or with a name for each part in braces; what is written out goes first."""
        bare = path.split("?")[0]
        for known in sorted(self.described["paths"], key=lambda one: one.count("{")):
            if re.fullmatch(re.sub(r"\\\{\w+\\\}", "[^/]+", re.escape(known)), bare):
                return known, self.described["paths"][known].get(method.lower())
        return None, None

    def problem(self, schema, value, is_strict=True):
        schema = copy.deepcopy(schema)
        schema["components"] = self.components
        validator = jsonschema.Draft202012Validator(strict(schema) if is_strict else schema)
        error = jsonschema.exceptions.best_match(validator.iter_errors(value))
        return f"{'.'.join(map(str, error.absolute_path))}: {error.message}" if error else None

    def named(self, node):
        """What a reference leads to, and its name."""
        name = node.get("$ref", "").removeprefix("#/components/")
        if not name:
            return node, None
        kind, _, name = name.partition("/")
        return self.components[kind][name], name

    def note(self, schema, value):
        """Which fields of which schemas an answer has."""
        schema, name = self.named(schema)
        for one in schema.get("anyOf", []):
            if self.problem(one, value) is None:
                return self.note(one, value)
        if isinstance(value, list):
            for one in value:
                self.note(schema.get("items", {}), one)
        elif isinstance(value, dict):
            for field, one in value.items():
                if field in schema.get("properties", {}):
                    self.fields.add(f"{name}.{field}")
                    self.note(schema["properties"][field], one)

    def reachable(self, node, found):
        """The schemas that a part of the description leads to."""
        if isinstance(node, list):
            for one in node:
                self.reachable(one, found)
        elif isinstance(node, dict):
            target, name = self.named(node)
            if name is None:
                self.reachable(list(node.values()), found)
            elif name not in found:
                found.add(name)
                self.reachable(target, found)
        return found

    def hold_to_fields(self):
        """Every field of an answer is in some answer. Rules go both ways: they are held to their own tables."""
        answers, bodies = set(), set()
        for path in self.described["paths"].values():
            for operation in (one for key, one in path.items() if key != "parameters"):
                self.reachable(operation["responses"], answers)
                self.reachable(operation.get("requestBody", {}), bodies)
        schemas = self.components["schemas"]
        expected = {f"{name}.{field}" for name in answers - bodies if name in schemas and not name.startswith("Envoy")
                    for field in schemas[name].get("properties", {})}
        for field in sorted(expected - self.fields - NOT_SEEN.keys()):
            self.failures.append(f"{field}: described, but in no answer here (src/fronts/http/answer_fields.h)")
        for field in sorted(NOT_SEEN.keys() & self.fields | NOT_SEEN.keys() - expected):
            self.failures.append(f"{field}: is in an answer or not described: it needs no mark any more")

    def each_operation(self):
        for path, operations in self.described["paths"].items():
            for method in operations:
                if method != "parameters":
                    yield method.upper(), re.sub(r"\{\w+\}", "x", path), operations[method]

    def ask(self, method, path, body=None, status=200):
        """The answer as JSON, or text; held to its description."""
        known, operation = self.operation(method, path)
        got, kind, text = self.send(method, path, body)
        place = f"{method} {path} {'' if body is None else json.dumps(body)}"
        if got != status:
            self.failures.append(f"{place}: answers {got}, not {status}: {text[:300]}")
            return None
        if operation is None:
            self.failures.append(f"{place}: is not in api/openapi.json: add it to src/server/routes/openapi.cc")
            return None
        answers = operation["responses"]
        answer = answers.get(str(got)) or answers.get(f"{got // 100}XX")
        self.seen.add((known, method, str(got) if str(got) in answers else f"{got // 100}XX"))
        if answer is None:
            self.failures.append(f"{place}: a status {got} is not in api/openapi.json")
            return None
        content = self.named(answer)[0].get("content", {})
        if not text and (not content or known == "/v1/auth"):
            return None
        if kind not in content:
            self.failures.append(f"{place}: an answer of the type '{kind}'; described: {list(content)}")
            return None
        value = json.loads(text) if kind.endswith("json") else text
        if problem := self.problem(content[kind]["schema"], value):
            self.failures.append(f"{place}: {got}: {problem}: the answer and its table "
                                 f"(src/fronts/http/answer_fields.h) differ\n    {text[:400]}")
        self.note(content[kind]["schema"], value)
        return value

    def hold_to_body(self, path, right):
        """Bodies with one thing changed are refused exactly if their schema refuses them."""
        _, operation = self.operation("POST", path)
        schema = operation["requestBody"]["content"]["application/json"]["schema"]
        fields = self.components["schemas"][schema["$ref"].rpartition("/")[2]]["properties"]
        bodies = [right, {**right, "nonsense": 1}]
        for field in fields:
            bodies.append({name: value for name, value in right.items() if name != field})
            bodies += [{**right, field: value} for value in (-1, 0, 1.5, "", "x", None, True, [], {})]
        for body in bodies:
            status, _, text = self.send("POST", path, body)
            problem = self.problem(schema, body, False)
            # What the readers ask beyond: least <= most, bounds of times, names that exist.
            beyond = re.search("is (greater|more) than|must be from|is 0|too (large|long)|at most|is empty", text)
            if (status == 400) != bool(problem) and not (status == 400 and beyond):
                self.failures.append(f"POST {path} {json.dumps(body)}: answers {status} {text[:200]}, but its "
                                     f"schema says {problem or 'that it is right'}: the reader and its table "
                                     f"(src/fronts/http/body_fields.h) differ")


def decisions(api):
    who = {"namespace": "shop", "resource": "search", "subject": "ann"}
    api.ask("POST", "/v1/peek", who)
    api.ask("POST", "/v1/request", {**who, "cost": 2})
    ticket = api.ask("POST", "/v1/request", {**who, "settle": True})["ticket"]
    api.ask("POST", "/v1/settle", {"ticket": ticket, "cost": 1})
    api.ask("POST", "/v1/request", who, 429)
    api.ask("POST", "/v1/request", {**who, "resource": "none"}, 404)
    api.ask("POST", "/v1/request", {}, 400)
    api.ask("POST", "/v1/request", {**who, "resource": "open", "subject": "bob"})
    api.ask("POST", "/v1/request", {**who, "resource": "tiers"})
    api.ask("POST", "/v1/request", {**who, "resource": "tiers", "cost": 9}, 429)
    for method in ("GET", "POST"):
        path = "/v1/auth?namespace=shop&resource=search&subject="
        api.ask(method, path + method)
        api.ask(method, path + "ann", status=429)
        api.ask(method, path + "ann&deny=403", status=403)
        api.ask(method, "/v1/auth?namespace=shop", status=400)
    envoy = {"domain": "shop", "descriptors": [{"entries": [{"key": "user", "value": "ann"}]}]}
    api.ask("POST", "/json", envoy)
    api.ask("POST", "/json", envoy)
    api.ask("POST", "/json", envoy, 429)
    api.ask("POST", "/json", {"domain": 5, "descriptors": 6}, 400)


def holds(api):
    session = api.ask("POST", "/v1/session", {"ttl_ms": 10000})["session"]
    api.ask("POST", f"/v1/session/{session}")
    seats = {"session": session, "namespace": "shop", "resource": "seats", "subject": "ann"}
    hold = api.ask("POST", "/v1/reserve", {**seats, "copies": 2})["hold"]
    api.ask("POST", "/v1/reserve", seats, 429)
    transfer = api.ask("POST", "/v1/transfer", {"session": session, "hold": hold, "copies": 1, "ttl_ms": 9000})
    api.ask("POST", "/v1/seize", {"session": session, "transfer": transfer["transfer"]})
    api.ask("POST", "/v1/release", {"session": session, "hold": hold, "copies": 1})
    api.ask("POST", "/v1/release", {"session": session, "hold": hold}, 404)
    nobody = "0" * 31 + "1"
    api.hold_to_body("/v1/request", {"namespace": "shop", "resource": "open", "subject": "a", "cost": 1,
                                     "min_cost": 1, "settle": False})
    api.hold_to_body("/v1/peek", {"namespace": "shop", "resource": "open", "subject": "a"})
    api.hold_to_body("/v1/settle", {"ticket": nobody, "cost": 1})
    api.hold_to_body("/v1/reserve", {**seats, "session": nobody, "copies": 1, "min_copies": 1, "wait_ms": 0,
                                     "max_queue": 1, "share": False})
    api.hold_to_body("/v1/release", {"session": nobody, "hold": nobody, "copies": 1})
    api.hold_to_body("/v1/transfer", {"session": nobody, "hold": nobody, "copies": 1, "ttl_ms": 5})
    api.hold_to_body("/v1/seize", {"session": nobody, "transfer": nobody})
    api.ask("DELETE", f"/v1/session/{session}")
    api.ask("DELETE", f"/v1/session/{session}", status=404)


def configuration(api):
    """Everything that can be read is put back as it was: so bodies fit their schemas as well."""
    base = "/v1/config/namespaces"
    shop = base + "/shop"
    limit = {"name": "more", "limit": 5, "per": "1m"}
    api.ask("PUT", shop + "/resources/search/limits/more", limit, 201)
    api.ask("PUT", shop + "/resources/search/limits/more", {**limit, "limit": "many"}, 400)
    api.ask("PATCH", shop + "/resources/search/limits/more", {"limit": 50})
    parts = ["", "/shop", "/shop/resources", "/shop/resources/search", "/shop/resources/search/limits",
             "/shop/resources/search/limits/more", "/shop/resources/search/overrides",
             "/shop/resources/search/overrides/vip", "/shop/resources/tiers/tiers",
             "/shop/resources/seats/copies", "/shop/resources/seats/groups", "/shop/resources/seats/groups/all",
             "/shop/contracts", "/shop/contracts/basic", "/shop/contracts/basic/limits",
             "/shop/contracts/basic/limits/daily", "/shop/descriptors"]
    api.ask("PUT", shop + "/resources/untidy",  # a window of 2 s does not divide 3 s
            {"tiers": {"hard_limit": 50, "tiers": [{"limit": 5, "window": "2s", "active": "3s"}]}}, 201)
    for part in parts:
        value = api.ask("GET", base + part)
        _, operation = api.operation("PUT", base + part)
        schema = operation["requestBody"]["content"]["application/json"]["schema"]
        if problem := api.problem(schema, value):
            api.failures.append(f"PUT {base + part}: what it takes does not fit its schema: {problem}")
        api.ask("PUT", base + part, value)
    api.ask("GET", base + "?names=true")
    api.ask("DELETE", shop + "/resources/search/limits/more", status=204)
    api.ask("GET", shop + "/resources/none", status=404)
    changes = api.ask("GET", "/v1/config?since=0")
    api.ask("GET", "/v1/config/audit?namespace=shop&limit=5")
    api.ask("POST", "/v1/config/rollback", {"version": changes["version"] - 1})
    api.ask("POST", "/v1/config/rollback", {"version": "x"}, 400)


def watching(api):
    api.ask("GET", "/v1/stats")
    api.ask("GET", "/v1/stats?namespace=shop&resource=search")
    api.ask("GET", "/v1/stats?namespace=shop&resource=search&subject=ann")
    api.ask("GET", "/v1/stats?namespace=shop&resource=none", status=404)
    api.ask("GET", "/v1/cluster")
    api.ask("GET", "/metrics")
    api.ask("GET", "/healthz")
    api.ask("GET", "/healthz?verbose")
    api.ask("GET", "/healthcheck")
    api.ask("GET", "/readyz")
    _, _, told = api.send("GET", "/v1/openapi.json")
    api.ask("GET", "/v1/openapi.json")
    if told != api.text:
        api.failures.append("the server's description is not api/openapi.json")


def what_is_not_described(api):
    """A method that a path does not describe is not taken."""
    described = {(method, path) for method, path, _ in api.each_operation()}
    for path in {path for _, path in described}:
        for method in ("GET", "POST", "PUT", "PATCH", "DELETE"):
            if (method, path) in described | ADVISED:
                continue
            status, _, text = api.send(method, path, {})
            if status not in (404, 405):
                api.failures.append(f"{method} {path}: answers {status} {text[:200]}, but is not described")


def strangers(api):
    """Everything that needs a token, without one and with one that is not for it."""
    for method, path, operation in api.each_operation():
        if "security" in operation:
            continue
        query = "?namespace=shop&resource=search&subject=ann" if path in ("/v1/auth", "/v1/stats") else ""
        body = {} if method in ("POST", "PUT", "PATCH") else None
        api.token = None
        api.ask(method, path + query, body, 401)
        api.token = "watch"
        if path != "/metrics":
            api.ask(method, path + query, body, 403)
    api.token = "all"
    api.ask("GET", "/metrics")
    api.token = None


def problems(api, server, tokens):
    """Something is wrong: its tokens cannot be read again."""
    with open(tokens, "w", encoding="utf-8"):
        pass
    server.send_signal(signal.SIGHUP)
    until = time.monotonic() + 20
    while not json.loads(api.send("GET", "/readyz")[2])["problems"] and time.monotonic() < until:
        time.sleep(0.02)
    api.ask("GET", "/readyz")
    api.ask("GET", "/healthz?verbose")


def await_ready(api, server, log):
    until = time.monotonic() + 20
    while True:
        try:
            if api.send("GET", "/readyz")[0] == 200:
                return
        except OSError:
            pass
        if time.monotonic() > until or server.poll() is not None:
            log.seek(0)
            sys.exit("the server is not ready:\n" + log.read())
        time.sleep(0.02)


def main():
    with tempfile.TemporaryDirectory(prefix="weir-openapi.") as folder:
        rules, key, tokens = (os.path.join(folder, name) for name in ("rules.yaml", "key", "tokens"))
        for path, text in ((rules, RULES), (key, "k" * 40), (tokens, TOKENS)):
            with open(path, "w", encoding="utf-8", opener=lambda p, f: os.open(p, f, 0o600)) as file:
                file.write(text)
        http_port, guarded, a, b = free_port(), free_port(), free_port(), free_port()
        log = open(os.path.join(folder, "log"), "w+", encoding="utf-8")
        plain = ["--grpc", "off", "--resp", "off", "--seed", rules]
        shared = [*plain, "--cluster-key-file", key, "--peers", f"a=127.0.0.1:{a},b=127.0.0.1:{b}"]
        servers = [subprocess.Popen([sys.argv[1], "serve", "--node", "a", "--cluster", f"127.0.0.1:{a}",
                                     "--http", f"127.0.0.1:{http_port}", *shared], stderr=log),
                   subprocess.Popen([sys.argv[1], "serve", "--node", "b", "--cluster", f"127.0.0.1:{b}",
                                     "--http", "off", *shared], stderr=subprocess.DEVNULL),
                   subprocess.Popen([sys.argv[1], "serve", "--http", f"127.0.0.1:{guarded}", "--token-file", tokens,
                                     *plain], stderr=log)]
        try:
            api = Api(http_port)
            await_ready(api, servers[0], log)
            for part in (decisions, holds, configuration, watching, what_is_not_described):
                part(api)
            for method, path, _ in api.each_operation():
                if not any(api.operation(method, path)[0] == one and method == how for one, how, _ in api.seen):
                    if method not in ("PATCH", "DELETE"):  # the same code for every part
                        api.failures.append(f"{method} {path}: described, but not asked here")
            api.port = guarded
            await_ready(api, servers[2], log)
            strangers(api)
            problems(api, servers[2], tokens)
            api.hold_to_fields()
            print("\n".join(api.failures) or f"{len(api.seen)} kinds of answers are as described")
            return 1 if api.failures else 0
        finally:
            for server in servers:
                server.kill()
                server.wait()


if __name__ == "__main__":
    sys.exit(main())
