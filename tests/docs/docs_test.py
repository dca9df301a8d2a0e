#!/usr/bin/python3
"""Holds the pages to what they say (tests/docs/README.md).

    docs_test.py blocks PAGE...   run the blocks of pages, each in a network of its own
    docs_test.py names            look up every name in backticks, on all pages
    docs_test.py pages            list the pages

Exits 77 where no network of its own can be made."""

import argparse
import glob
import os
import signal
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, HERE)
sys.dont_write_bytecode = True

import blocks  # noqa: E402
import markdown  # noqa: E402
import names  # noqa: E402
import network  # noqa: E402

SKIPPED = 77
# Whose blocks are run, and where else names are looked up.
PAGES = ("README.md", "CONTRIBUTING.md", "docs/*.md", "clients/*/README.md", "examples/*/README.md")
NAMED_TOO = ("ARCHITECTURE.md", "CHANGELOG.md", "tests/*/README.md")
# Those of the pages' examples.
ADDRESSES = ("10.0.0.1", "10.0.0.2", "10.0.0.3")


def find(patterns):
    return [os.path.relpath(path, ROOT) for pattern in patterns
            for path in sorted(glob.glob(os.path.join(ROOT, pattern)))]


def read(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        return markdown.Page(path, file.read())


def run_page(path, build, work):
    """In a process group of its own, which ends with it."""
    runner = blocks.Runner(read(path), blocks.Place(ROOT, build, work))
    start = time.monotonic()
    runner.run()
    for line in runner.left_alone:
        print(line)
    for failure in runner.failures:
        print(failure)
    print(f"{path}: {len(runner.page.blocks)} blocks, {len(runner.failures)} failed, "
          f"{time.monotonic() - start:.1f} s", flush=True)
    return 1 if runner.failures else 0


def run_apart(path, build):
    with tempfile.TemporaryDirectory(prefix="weir-docs.") as work:
        child = os.fork()
        if child == 0:
            os.setsid()
            try:
                network.enter(ADDRESSES)
            except OSError as error:
                print(f"skipped: no network namespace can be made ({error}): run it as root, or allow "
                      f"unprivileged user namespaces", flush=True)
                os._exit(SKIPPED)
            try:
                code = run_page(path, build, os.path.join(work, "page"))
            except markdown.PageError as error:
                print(error, flush=True)
                code = 1
            os._exit(code)
        _, status = os.waitpid(child, 0)
        try:
            os.killpg(child, signal.SIGKILL)  # what it left in the background
        except ProcessLookupError:
            pass
        return os.waitstatus_to_exitcode(status)


def check_names(build):
    known = names.Names(ROOT, build)
    for path in find(PAGES + NAMED_TOO):
        known.check(read(path))
    for failure in known.failures:
        print(failure)
    return 1 if known.failures else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=("blocks", "names", "pages"))
    parser.add_argument("page", nargs="*")
    parser.add_argument("--build", default=os.path.join(ROOT, "build"))
    arguments = parser.parse_args()
    if arguments.what == "pages":
        print("\n".join(find(PAGES)))
        return 0
    if arguments.what == "names":
        return check_names(arguments.build)
    return max(run_apart(page, arguments.build) for page in arguments.page or find(PAGES))


if __name__ == "__main__":
    sys.exit(main())
