"""A page as the tests see it: its fenced blocks with the comments before them, what stands in
backticks, its headings and its links."""

import re
from dataclasses import dataclass, field

FENCE = re.compile(r"^( *)(```+)\s*(\S*)\s*$")
MARKER = re.compile(r"^\s*<!-- test: (not run|leave out|before|file|inside|check):? ?(.*?) -->\s*$")
SPAN = re.compile(r"(?<!`)(`+)(?!`)(.+?)(?<!`)\1(?!`)", re.S)
LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")


class PageError(Exception):
    """What is wrong with a page, where, and what to do."""

    def __init__(self, page, line, message):
        super().__init__(f"{page}:{line}: {message}")


@dataclass
class Block:
    page: str
    line: int  # of its first line of text
    language: str
    lines: list
    markers: list = field(default_factory=list)  # (what, value)

    @property
    def text(self):
        return "".join(line + "\n" for line in self.lines)

    def marks(self, what):
        return [value for name, value in self.markers if name == what]

    def mark(self, what):
        return next(iter(self.marks(what)), None)


class Page:
    def __init__(self, path, text):
        self.path = path
        self.blocks = []
        self.prose = []  # lines; those of blocks and comments are empty
        self._read(text.splitlines())

    def _read(self, lines):
        markers, block, indent = [], None, ""
        for number, line in enumerate(lines, 1):
            fence = FENCE.match(line)
            self.prose.append("")
            if block is not None:
                if fence and not fence[3]:
                    self.blocks.append(block)
                    block = None
                else:
                    block.lines.append(line.removeprefix(indent))
            elif fence:
                indent = fence[1]
                block = Block(self.path, number + 1, fence[3], [], markers)
                markers = []
            elif marker := MARKER.match(line):
                markers.append((marker[1], marker[2]))
            elif line.strip().startswith("<!-- test"):
                raise PageError(self.path, number, "a comment for the tests that they do not know: "
                                "tests/docs/README.md lists them")
            else:
                if markers:
                    raise PageError(self.path, number, "a comment for the tests stands right before "
                                    "a fenced block, and there is none here")
                self.prose[-1] = line
        if block is not None:
            raise PageError(self.path, block.line, "a fenced block that does not end")

    def spans(self):
        """(line, text) of everything in backticks. Spans may run over the end of a line."""
        text = "\n".join(self.prose)
        for match in SPAN.finditer(text):
            if "\n\n" not in match[2]:
                yield text.count("\n", 0, match.start()) + 1, " ".join(match[2].split())

    def links(self):
        for number, line in enumerate(self.prose, 1):
            for match in LINK.finditer(SPAN.sub("", line)):
                yield number, match[1]

    def anchors(self):
        """As GitHub makes them of headings."""
        for line in self.prose:
            if heading := re.match(r"#+ +(.*)", line):
                words = re.sub(r"[^\w\- ]", "", heading[1].strip().lower())
                yield words.replace(" ", "-")
