"""Runs the blocks of a page, in its order."""

import json
import os
import re
import shutil
import signal
import subprocess
import time

from markdown import PageError

HERE = os.path.dirname(os.path.abspath(__file__))
TIMEOUT_S = 60
# They stay in the foreground until they are told to stop.
STAYS = re.compile(r"^(sudo )?(\./run( -[^-]\S*| --(?!build-only|help)\S*)*|\S*weir serve\b.*|nginx .*|"
                   r"haproxy .*|caddy run.*)$")
# What a page finds in the folder in which it is followed.
PROGRAMS = ("weir", "weir-lab", "weir-bench")


# ./run finds everything built.
CMAKE = """#!/bin/sh
case "$*" in
  '--preset release' | '--build --preset release --target '*) ;;
  *) exec {} "$@" ;;
esac
"""


def _wrapper(program):
    """`weir serve` writes to a log by which the prelude sees when it is ready."""
    return (f'#!/bin/bash\nif [[ ${{1:-}} == serve && ${{2:-}} != *help ]]; then\n'
            f'  exec "{program}" "$@" >"$DOCS_STATE/$$.log" 2>&1\nfi\nexec "{program}" "$@"\n')


def _write_program(path, text):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    os.chmod(path, 0o755)


class Place:
    """A folder that looks like the repository after ./run: links to what is in it, `build` with the
    programs, and on the PATH the installed `weir`. Building is done already, and sudo not needed."""

    def __init__(self, root, build, work):
        self.root, self.work, self.folder = root, work, os.path.join(work, "weir")
        self.state, programs = os.path.join(work, "state"), os.path.join(work, "bin")
        shutil.rmtree(work, ignore_errors=True)
        for folder in (self.folder, self.state, programs, os.path.join(self.folder, "build")):
            os.makedirs(folder)
        for name in os.listdir(root):
            if name == "run":
                shutil.copy(os.path.join(root, name), self.folder)
            elif not name.startswith((".", "build")):
                os.symlink(os.path.join(root, name), os.path.join(self.folder, name))
        for name in PROGRAMS:
            for folder in (programs, os.path.join(self.folder, "build")):
                _write_program(os.path.join(folder, name), _wrapper(os.path.join(build, name)))
        _write_program(os.path.join(programs, "cmake"), CMAKE.format(shutil.which("cmake")))
        _write_program(os.path.join(programs, "sudo"), '#!/bin/sh\nexec "$@"\n')
        for name in ("apt", "apt-get", "pip", "npm"):
            _write_program(os.path.join(programs, name), "#!/bin/sh\necho a test installs nothing\nexit 99\n")
        self.environment = {
            "PATH": f"{programs}:/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin", "HOME": work, "LANG": "C.UTF-8",
            "PWD": self.folder, "DOCS_STATE": self.state, "WEIR_SKIP_INSTALL": "1", "NO_COLOR": "1",
            "PYTHONPATH": os.path.join(root, "clients/python"), "PYTHONDONTWRITEBYTECODE": "1",
            "USER": "ann", "TERM": "dumb"}

    def run(self, words):
        """(exit code, output); what it leaves in the background goes on."""
        path = os.path.join(self.state, "output")
        with open(path, "wb") as out:
            process = subprocess.Popen(words, cwd=self.folder, env=self.environment, stdout=out,
                                       stderr=out, stdin=subprocess.DEVNULL)
            try:
                code = process.wait(TIMEOUT_S)
            except subprocess.TimeoutExpired:
                process.kill()
                code = f"no end within {TIMEOUT_S} s"
        with open(path, encoding="utf-8", errors="replace") as file:
            return code, file.read()

    def servers(self):
        return [int(name[:-4]) for name in os.listdir(self.state) if name.endswith(".log")]

    def end_servers(self):
        pids = self.servers()
        for pid in pids:
            _signal(pid, signal.SIGTERM)
        until = time.monotonic() + 5
        for pid in pids:
            while _lives(pid) and time.monotonic() < until:
                time.sleep(0.01)
            _signal(pid, signal.SIGKILL)
            os.unlink(os.path.join(self.state, f"{pid}.log"))

    def logs(self):
        text = ""
        for pid in self.servers():
            with open(os.path.join(self.state, f"{pid}.log"), encoding="utf-8", errors="replace") as file:
                text += "".join(f"    | {line}" for line in file.readlines()[-8:])
        return text


def _signal(pid, number):
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        pass


def _lives(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def _logical_lines(lines):
    """Lists of lines that are one command: those that end in a backslash with what follows."""
    group = []
    for line in lines:
        group.append(line)
        if not line.endswith("\\"):
            yield group
            group = []
    if group:
        yield group


def _without_comment(text):
    return re.sub(r"\s+#.*$", "", text).strip()


def _in_background(lines):
    """The same lines, with & behind the commands that would stay."""
    out = []
    for group in _logical_lines(lines):
        whole = _without_comment(" ".join(line.rstrip("\\").strip() for line in group))
        if STAYS.match(whole) and not whole.endswith("&"):
            group[-1] = _without_comment(group[-1]) + " &"
        out += group
    return out


def _starts_server(lines):
    return any(re.search(r"(^|[ /])weir serve |^\./run$|^\./run [^-]", _without_comment(line))
               for line in lines)


class Runner:
    def __init__(self, page, place):
        self.page, self.place = page, place
        self.failures, self.left_alone = [], []

    def run(self):
        for block in self.page.blocks:
            if (reason := block.mark("not run")) is not None:
                self._note(block, "not run", reason)
                continue
            try:
                self._run(block)
            except PageError as error:
                self.failures.append(str(error))
        for language, run in (("cpp", self._compile), ("python", self._run_python)):
            blocks = [b for b in self.page.blocks if b.language == language and not b.marks("not run")]
            try:
                if blocks:
                    run(blocks)
            except PageError as error:
                self.failures.append(str(error))
        self.place.end_servers()

    def _note(self, block, what, reason):
        if not reason.strip():
            raise PageError(block.page, block.line, f"`{what}` needs a reason behind it")
        self.left_alone.append(f"{block.page}:{block.line}: {what}: {reason}")

    def _run(self, block):
        before = block.marks("before")
        if _starts_server(before + [line.removeprefix("$ ") for line in block.lines]):
            self.place.end_servers()
        if before:
            self._shell(block, before, 0)
        if name := block.mark("file"):
            with open(os.path.join(self.place.folder, name), "w", encoding="utf-8") as file:
                file.write(block.text)
        kinds = {"sh": self._run_shell, "console": self._run_console, "yaml": self._check_rules,
                 "json": self._parse_json, "cpp": None, "python": None}
        if block.language not in kinds and not name:
            self._fail(block, f"the test does not know what to do with a block of the language "
                       f"'{block.language}': call it one of {', '.join(kinds)}, or write "
                       f"<!-- test: not run: REASON --> on the line before it")
        if run := kinds.get(block.language):
            run(block)

    def _fail(self, block, message, line=None):
        raise PageError(block.page, line or block.line, message)

    def _kept_lines(self, block):
        """Lines that are left out are empty."""
        lines = list(block.lines)
        for mark in block.marks("leave out"):
            form = re.match(r"/(.*)/: *(.*)$", mark)
            if not form:
                self._fail(block, "it is written: leave out /PATTERN/: REASON")
            self._note(block, f"leaves out /{form[1]}/", form[2])
            kept = ["" if re.search(form[1], line) else line for line in lines]
            if kept == lines:
                self._fail(block, f"no line matches /{form[1]}/ any more: drop the comment")
            lines = kept
        return lines

    def _shell(self, block, lines, first_line):
        """Runs them so that bash's own messages have the page's line numbers."""
        script, failed = (os.path.join(self.place.state, name) for name in ("script", "failed"))
        if os.path.exists(failed):
            os.unlink(failed)
        setup = (f"source {HERE}/prelude.sh; set -eE; trap 'echo $LINENO >\"{failed}\"' ERR; "
                 "trap '_await_servers \"$BASH_COMMAND\"' DEBUG")
        with open(script, "w", encoding="utf-8") as file:
            file.write(setup + "\n" * max(first_line - 1, 1) + "\n".join(_in_background(lines)) +
                       "\ntrap - DEBUG; _await_servers\n")
        code, output = self.place.run(["/bin/bash", script])
        if code == 0:
            return
        line = block.line
        if os.path.exists(failed) and first_line:
            with open(failed, encoding="ascii") as file:
                line = int(file.read().split()[0])
        self._fail(block, f"this exits {code}:\n{_indented(output)}{self.place.logs()}", line)

    def _run_shell(self, block):
        self._shell(block, self._kept_lines(block), block.line)

    def _run_console(self, block):
        commands = []  # (line, command lines, expected)
        continues = False
        for number, line in enumerate(self._kept_lines(block), block.line):
            if line.startswith("$ "):
                commands.append((number, [line[2:]], []))
            elif commands and continues:
                commands[-1][1].append(line)
            elif commands:
                commands[-1][2].append(line)
            elif line:
                self._fail(block, "a block of the language console begins with `$ COMMAND`", number)
            continues = line.endswith("\\") and (line.startswith("$ ") or continues)
        for number, lines, expected in commands:
            self._run_compared(block, number, lines, [line for line in expected if line])

    def _run_compared(self, block, number, lines, expected):
        if not expected:
            return self._shell(block, lines, number)
        code, output = self.place.run(["/bin/bash", "-c", "\n".join(lines)])
        told = "\n".join(line.rstrip() for line in output.splitlines() if line.strip())
        wanted = "\n".join(line.rstrip() for line in expected)
        pattern = ".*?".join(re.escape(part) for part in wanted.split("…"))
        if not re.fullmatch(pattern, told, re.S):
            self._fail(block, f"`{lines[0]}` is shown to answer\n{_indented(wanted)}but exits {code} with\n"
                       f"{_indented(told)}{self.place.logs()}", number)

    def _check_rules(self, block):
        text = block.text
        for key in reversed((block.mark("inside") or "").split(".")):
            if key:
                text = f"{key}:\n" + "".join(f"  {line}\n" for line in text.splitlines())
        path = os.path.join(self.place.state, "block.yaml")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        options = (block.mark("check") or "").split()
        code, output = self.place.run(["weir", "check", *options, path])
        if code != 0:
            self._fail(block, f"`weir check` exits {code} (a fragment says what stands around it: <!-- test: "
                       f"inside: namespaces.shop -->; what is not rules: <!-- test: not run: REASON -->):\n"
                       f"{_indented(output)}")

    def _parse_json(self, block):
        try:
            json.loads(block.text)
        except ValueError as error:
            self._fail(block, f"is not JSON: {error}")

    def _compile(self, blocks):
        """`…` stands for what a reader puts there."""
        includes, body = [], []
        for block in blocks:
            for number, line in enumerate(block.lines, block.line):
                if line.startswith("#include"):
                    includes.append(line)
                else:
                    body += [f'#line {number} "{block.page}"', line.replace("…", "{}")]
        source = os.path.join(self.place.state, "block.cc")
        with open(source, "w", encoding="utf-8") as file:
            file.write("\n".join(includes + ["#include <iostream>", "using namespace std::chrono_literals;",
                                             "int main() {"] + body + ["}"]) + "\n")
        root = self.place.root
        code, output = self.place.run(["g++", "-std=c++20", "-fsyntax-only", "-Wall", "-Wno-unused-variable",
                                       f"-I{root}/include", f"-I{root}/clients/cpp/include", source])
        if code != 0:
            self._fail(blocks[0], f"does not compile:\n{_indented(output)}")

    def _run_python(self, blocks):
        text = ""
        for block in blocks:
            text += "\n" * (block.line - 1 - text.count("\n")) + block.text
        program = os.path.join(self.place.state, "block.py")
        with open(program, "w", encoding="utf-8") as file:
            file.write(text)
        code, output = self.place.run(["/usr/bin/python3", program])
        if code != 0:
            self._fail(blocks[0], f"exits {code} (line numbers are the page's):\n{_indented(output)}"
                       f"{self.place.logs()}")


def _indented(text):
    return "".join(f"    {line}\n" for line in text.splitlines()[-40:])
