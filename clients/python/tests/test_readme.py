"""Every line of the README runs."""

import contextlib
import io
import os
import re
import unittest

import weir
from server import BINARY, Server

README = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "README.md")


@unittest.skipUnless(BINARY, "WEIR_BINARY names no server")
class Readme(unittest.TestCase):
    def test_its_code_runs_with_its_rules(self):
        with open(README, encoding="utf-8") as file:
            blocks = re.findall(r"```(yaml|python)\n(.*?)```", file.read(), re.DOTALL)
        server = Server(rules=next(text for kind, text in blocks if kind == "yaml"))
        self.addCleanup(server.kill)
        names = {}
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            for kind, text in blocks:
                if kind == "python":
                    code = text.replace("127.0.0.1:8081", server.address)
                    exec(compile(code, "README.md", "exec"), names)
        for value in names.values():
            if isinstance(value, weir.Client):
                value.close()
        lines = printed.getvalue().splitlines()
        self.assertRegex(lines[0], "^9 left")
        self.assertIn("1 of seats", lines)
        self.assertRegex(printed.getvalue(), "3 of each")
        self.assertIn("True 1", lines)


if __name__ == "__main__":
    unittest.main()
