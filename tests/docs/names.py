"""Whether what stands in backticks exists: flags, variables, paths, metrics, the paths and fields of
the HTTP API, and any other word that only a program would spell so."""

import glob
import json
import os
import re
import subprocess

# Names that a reader is to replace, or that belong to others.
EXAMPLES = {
    "paths": {"build/data", "build/tests", "build/logs"},
    "http": {"/api/"},
}
# Programs of others, whose flags are not ours to know.
FOREIGN = {"apt", "apt-get", "caddy", "cmake", "ctest", "curl", "docker", "envoy", "g++", "git", "grpcurl", "haproxy",
           "nginx", "npm", "npx", "openssl", "pip", "printf", "python3", "redis-benchmark", "redis-cli",
           "redocly", "sudo", "systemctl", "traefik", "valgrind"}
# Words of others with an underscore.
THEIR_WORDS = {
    "auth_request", "ngx_http_auth_request_module", "error_page", "forward_auth", "handle_errors",
    "failure_mode_deny", "nss_wrapper", "libnss_wrapper", "http_request", "deny_status",
}
TOP = ("api", "bench", "build", "clients", "cmake", "docs", "examples", "fuzz", "include", "lab", "src",
       "tests", "tools")
SOURCES = (".cc", ".h", ".py", ".proto", ".txt", ".json", ".yaml", ".cmake", ".sh", ".lua", ".conf", ".cfg", ".dict",
           ".jsonl", ".toml", ".in")


class Programs:
    """What our programs say of themselves: the flags of each command, found by asking for help."""

    def __init__(self, root, build):
        self.flags = {}     # "weir serve" -> {"--http", …}
        self.help = ""
        for program in ("weir", "weir-lab", "weir-bench"):
            path = os.path.join(build, program)
            if os.path.exists(path):
                self._ask(program, [path])
        for script in ("run", "test", "fuzz/run", "examples/cluster/run", "clients/python/run_tests"):
            with open(os.path.join(root, script), encoding="utf-8") as file:
                self.flags["./" + script] = set(re.findall(r"--[a-z][a-z-]*", file.read()))
        self.all_flags = set().union(*self.flags.values()) | {"--help", "--version"}

    def _ask(self, name, words):
        told = subprocess.run(words + ["--help"], capture_output=True, text=True, timeout=20, check=False)
        text = told.stdout + told.stderr
        self.help += text
        self.flags[name] = set(re.findall(r"(?<![\w-])--[a-z][a-z0-9-]*", text)) | {"--help"}
        _, _, listed = text.partition("ommands:\n")  # Subcommands, or Commands
        commands = re.findall(r"^  ([a-z][a-z-]+)(?:\s{2,}|$)", listed, re.M)
        commands += re.findall(rf"^  {name} ([a-z][a-z-]+)", text, re.M)
        for command in sorted(set(commands) - {"help"}):
            self._ask(f"{name} {command}", words + [command])

    def command_of(self, words):
        """The longest known command that they begin with, or nothing."""
        words = [re.sub(r"^(\./)?build/", "", words[0])] + words[1:]
        known = None
        for length in range(1, len(words) + 1):
            name = " ".join(words[:length])
            if name in self.flags or "./" + name in self.flags:
                known = name if name in self.flags else "./" + name
        return known


class Names:
    def __init__(self, root, build):
        self.root = root
        self.programs = Programs(root, build)
        self.failures = []
        self.words, self.metrics = set(), set()
        for path in self._sources():
            with open(os.path.join(root, path), encoding="utf-8", errors="replace") as file:
                text = file.read()
            self.words.update(re.findall(r"[A-Za-z][A-Za-z0-9_]*", text))
            if path.startswith("src/"):
                self.metrics.update(re.findall(r'"(weir_[a-z0-9_]+)', text))
        with open(os.path.join(root, "api/openapi.json"), encoding="utf-8") as file:
            api = json.load(file)
        self.http_paths = list(api["paths"])
        self.fields = set(_fields(api))

    def _sources(self):
        for folder, folders, files in os.walk(self.root):
            folders[:] = [one for one in folders if not one.startswith((".", "build")) and
                          one not in ("node_modules", "__pycache__")]
            for name in files:
                path = os.path.relpath(os.path.join(folder, name), self.root)
                if path.startswith("tests/docs/"):
                    continue
                if name.endswith(SOURCES) or "." not in name:
                    yield path

    def check(self, page):
        for line, span in page.spans():
            for problem in self._problems(page, span):
                self.failures.append(f"{page.path}:{line}: `{span}`: {problem}")
        for block in page.blocks:
            if block.language in ("sh", "console"):
                self._check_commands(page, block)
        for line, link in page.links():
            self._check_link(page, line, link)

    def _check_commands(self, page, block):
        """Flags in blocks, of those that are not run too."""
        text = block.text.replace("\\\n", " ")
        for command in re.split(r"[\n;|]|&&", text):
            words = command.removeprefix("$ ").split("#")[0].split()
            while words and (re.match(r"\w+=", words[0]) or words[0] in ("do", "sudo")):
                words.pop(0)
            if words and (problem := self._flag_problem(words)):
                self.failures.append(f"{page.path}:{block.line}: {problem}")

    def _flag_problem(self, words):
        while len(words) > 1 and re.match(r"[A-Z_]+=", words[0]):  # variables
            words = words[1:]
        if os.path.basename(words[0]) in FOREIGN or words[0].startswith("build/tests/"):
            return None
        command = self.programs.command_of(words)
        flags = self.programs.flags[command] if command else self.programs.all_flags
        for word in words:
            if word == "--":
                return None
            flag = re.match(r"\[?(--[a-z][a-z0-9-]*)", word)
            if flag and flag[1].endswith("-") and any(one.startswith(flag[1]) for one in flags):
                continue  # `--tls-…`: all of them
            if flag and flag[1] not in flags:
                return f"{flag[1]} is no flag of {command or 'any of our programs'}"
        if words[0] in ("weir", "weir-lab") and len(words) > 1 and re.fullmatch(r"[a-z][a-z-]+", words[1]):
            if f"{words[0]} {words[1]}" not in self.programs.flags and words[1] != "help":
                return f"{words[0]} has no command {words[1]}"
        return None

    def _problems(self, page, span):
        words = span.split()
        if os.path.basename(words[0]) not in FOREIGN:
            if problem := self._flag_problem(words):
                yield problem
        for variable in re.findall(r"\bWEIR_[A-Z0-9_]+\b", span):
            if variable not in self.programs.help and variable not in self.words:
                yield f"no program reads {variable}"
        for metric in re.findall(r"\bweir_[a-z0-9_]+\b", span):
            if metric not in self.metrics and metric not in self.words:
                yield f"there is no metric {metric}"
        for path in re.findall(r"(?<![\w./:-])/(?:v1/[\w/{}.-]*|healthz|readyz|healthcheck|metrics|json)(?![\w.])", span):
            if not self._is_http(path):
                yield f"{path} is not in api/openapi.json"
        for field in re.findall(r'[{,] *"([a-z_]+)"', span):
            if field not in self.fields and field not in self.words:
                yield f"no field of the API is called {field}"
        for word in words:
            if problem := self._path_problem(page, word.strip("'\",;:()[]")):
                yield problem
        for word in re.findall(r"(?<![\w./$-])[a-z]+(?:_[a-z0-9]+)+(?![\w/])", span):
            if word not in self.words and word not in self.fields and word not in THEIR_WORDS:
                yield f"{word} is nowhere in the code"

    def _is_http(self, path):
        path = path.rstrip("/…")
        for known in self.http_paths:
            pattern = re.sub(r"\\\{\w+\\\}", "[^/]+", re.escape(known))
            if re.fullmatch(pattern, path) or known.startswith(path + "/"):
                return True
        return False

    def _path_problem(self, page, word):
        word = word.split("#")[0]
        match = re.fullmatch(r"(?:\./)?((?:%s)/[\w./*{},…-]*|[A-Z]+\.md|\.ci/\w+)" % "|".join(TOP), word)
        if not match or "…" in word:
            return None
        path = match[1]
        if path.startswith("build/") or path.startswith("build-"):
            known = ("build/weir", "build/weir-lab", "build/weir-bench", *EXAMPLES["paths"])
            return None if path.rstrip("/").startswith(known) else f"the build does not make {path}"
        path = re.sub(r"FOLDER|NAME", "*", path)  # for the reader to replace
        for variant in _braces(path):
            here = os.path.dirname(os.path.join(self.root, page.path))
            if not glob.glob(os.path.join(self.root, variant)) and not glob.glob(os.path.join(here, variant)):
                return f"there is no {variant}"
        return None

    def _check_link(self, page, line, link):
        if re.match(r"[a-z]+:", link):
            return
        path, _, anchor = link.partition("#")
        target = os.path.normpath(os.path.join(os.path.dirname(page.path), path)) if path else page.path
        full = os.path.join(self.root, target)
        if not os.path.exists(full):
            self.failures.append(f"{page.path}:{line}: a link to {link}: there is no {target}")
        elif anchor and target.endswith(".md"):
            from markdown import Page
            with open(full, encoding="utf-8") as file:
                if anchor not in Page(target, file.read()).anchors():
                    self.failures.append(f"{page.path}:{line}: {target} has no heading #{anchor}")


def _braces(text):
    """a{b,c} is ab and ac."""
    match = re.match(r"(.*?)\{([^{}]*)\}(.*)", text)
    if not match:
        return [text]
    return [match[1] + part + rest for part in match[2].split(",") for rest in _braces(match[3])]


def _fields(node):
    if isinstance(node, dict):
        yield from node.get("properties", {})
        if "in" in node and "name" in node:
            yield node["name"]
        for value in node.values():
            yield from _fields(value)
    elif isinstance(node, list):
        for value in node:
            yield from _fields(value)
