"""Reads a page of documentation: its code blocks with what is said about them, and the rest.

A block is fenced. The line above it may be a marker:

    <!-- file: NAME -->        the block becomes this file, for the blocks behind it
    <!-- not-run: reason -->   it cannot be run, and why
"""
import re

FENCE = re.compile(r"^(\s*)```+\s*([\w+-]*)\s*$")
MARKER = re.compile(r"^\s*<!--\s*(file|not-run):\s*(.*?)\s*-->\s*$")
REASON_WORDS = 3


class Block:
    def __init__(self, line, language, marker):
        self.line = line
        self.language = language
        self.kind, self.note = marker or (None, None)
        self.lines = []

    @property
    def text(self):
        return "".join(line + "\n" for line in self.lines)


class Page:
    """`blocks` in their order, `prose` the other lines with their numbers, and
    `problems`: what is wrong with the page itself, as (line, text)."""

    def __init__(self, name, text):
        self.name = name
        self.text = text
        self.blocks = []
        self.prose = []
        self.problems = []
        self._read(text.splitlines())

    def _read(self, lines):
        block = marker = indent = None
        for number, line in enumerate(lines, 1):
            fence = FENCE.match(line)
            if block and fence and not fence[2]:
                self._close(block)
                block = None
            elif block:
                block.lines.append(line.removeprefix(indent))
            elif fence:
                indent = fence[1]
                block = Block(number, fence[2], marker and marker[1])
                marker = None
            else:
                marker = self._read_prose(number, line, marker)
        if block:
            self.problems.append((block.line, "the block has no end"))
        self._refuse_marker(marker)
        self._look_for_files()

    def _look_for_files(self):
        """Markers are out of sight: a reader must find the name of a file elsewhere."""
        shown = "\n".join([line for _, line in self.prose] + [block.text for block in self.blocks])
        for block in self.blocks:
            if block.kind == "file" and block.note.split("/")[-1] not in shown:
                self.problems.append((block.line, "no reader sees that this is %s" % block.note))

    def _read_prose(self, number, line, marker):
        found = MARKER.match(line)
        if found:
            self._refuse_marker(marker)
            return number, (found[1], found[2])
        if marker and not line.strip():
            return marker
        self._refuse_marker(marker)
        if re.match(r" {4}|\t", line) and not (self.prose and self.prose[-1][1].strip()):
            self.problems.append((number, "an indented block: write it between ``` lines"))
        self.prose.append((number, line))
        return None

    def _refuse_marker(self, marker):
        if marker:
            self.problems.append((marker[0], "no block stands below this marker"))

    def _close(self, block):
        self.blocks.append(block)
        if block.kind == "not-run" and len(block.note.split()) < REASON_WORDS:
            self.problems.append((block.line, "not-run needs a reason: three words at least"))
        if block.kind == "file" and (block.note.startswith("/") or ".." in block.note.split("/")):
            self.problems.append((block.line, "a file has its place below the page's directory"))

    def spans(self):
        """Every `word` between backticks, with its line."""
        for number, line in self.prose:
            for span in re.findall(r"(?<!`)`([^`]+)`(?!`)", line):
                yield number, span

    def anchors(self):
        """What a heading is called in a link, the way GitHub does it."""
        headings = [line.lstrip("#").strip() for _, line in self.prose if line.startswith("#")]
        return {re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-") for text in headings}
