"""A real `weir serve`, of the program that WEIR_BINARY names."""

import os
import re
import signal
import socket
import subprocess
import tempfile

BINARY = os.environ.get("WEIR_BINARY", "")

RULES = """
namespaces:
  shop:
    resources:
      search: {limits: [{name: burst, limit: 10, per: 1d}]}
      quick: {limits: [{name: burst, limit: 1, per: 1s}]}
      seats: {copies: {per_subject: 5, total: 8}}
      rooms: {copies: {per_subject: 3}}
"""


class Server:
    def __init__(self, port=0, rules=RULES):
        self._folder = tempfile.TemporaryDirectory()
        path = os.path.join(self._folder.name, "rules.yaml")
        with open(path, "w") as file:
            file.write(rules)
        self._process = subprocess.Popen(
            [BINARY, "serve", "--seed", path, "--http", "off", "--resp", "off", "--threads", "1",
             "--grpc", f"127.0.0.1:{port}"], stderr=subprocess.PIPE, text=True)
        self.port = port
        for line in self._process.stderr:
            found = re.search(r"grpc on 127\.0\.0\.1:(\d+)", line)
            if found:
                self.port = int(found.group(1))
            if line.rstrip().endswith(" ready"):
                break
        else:
            raise RuntimeError("the server did not start")

    @property
    def address(self):
        return f"127.0.0.1:{self.port}"

    def freeze(self):
        """It takes connections and never answers."""
        self._process.send_signal(signal.SIGSTOP)

    def thaw(self):
        self._process.send_signal(signal.SIGCONT)

    def kill(self):
        if self._process.poll() is None:
            self._process.kill()
        self._process.wait()
        self._process.stderr.close()
        self._folder.cleanup()


def free_address():
    """Where nobody listens."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return f"127.0.0.1:{taken.getsockname()[1]}"
