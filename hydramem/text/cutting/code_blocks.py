"""The block structure of source code, read from indentation and brackets, in any language.

A block is a line with what is indented below it, with the lines that close or continue it (`}`, `else`),
and with the comments and decorators right above it. A line that is indented too little, such as a label,
a preprocessor directive or the inside of a string, is within a block whose bracket is still open.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

# Lines that close or continue the block above them.
_CLOSES = re.compile(
    r"[)\]}]|\.\w|`{3}|~{3}|\{\s*(?://.*|/\*.*)?$"
    r"|(?:else|elif|elsif|elseif|except|catch|finally|rescue|ensure)\b(?!\s*[=.,)])"
    r"|(?:end|fi|done|esac|then|do|where)\b(?!\s*[=.(,:\[])"
)
# Comments, decorators, attributes and the like: they belong to the line below them.
_ANNOTATES = re.compile(r"#|//|/\*|\*(?:[\s/]|$)|--|;|@|`{3}|~{3}|\[+\w[^\n]*\]\s*$|template\b.*>\s*$")
_OPENS = re.compile(r"[(\[{]\s*(?://.*|/\*.*|#.*)?$")
# A line of types above the name of a function, as GNU style writes C.
_TYPES = re.compile(r"[A-Za-z_][\w\s*&:<>,]*$")
_QUOTES = re.compile(r"(?<!['\"])(?:\"{3}|'{3})(?!['\"](?=\s*[,)\]:]|\s+in\b))")


@dataclass(slots=True)
class Block:
    """A block, as line numbers.

    Attributes:
        start: Its first line.
        subject: The first line below its comments and decorators.
        last: Its last line that is not within a block inside it.
        end: The line after its last.
        indent: Columns that it is indented by; within an open bracket at least one more than its parent.
        parent: Number of the block around it; None where there is none.
        annotates: Whether its last line of its own level belongs to the line below.
        opened: Whether a bracket that ends such a line is still open.
        depth: How many brackets were open before it.
    """

    start: int
    subject: int
    last: int
    end: int
    indent: int
    parent: int | None
    annotates: bool
    opened: bool = False
    depth: int = 0


@dataclass(frozen=True, slots=True)
class Structure:
    """The blocks of some lines.

    Attributes:
        blocks: Every block before those within it; most are one line.
        indents: Columns of each line.
        continues: Whether each line closes or continues a block above it.
    """

    blocks: list[Block]
    indents: list[int]
    continues: list[bool]


def structure(lines: Sequence[str], after_blank: Sequence[bool]) -> Structure:
    """Read the blocks of source code in one pass.

    Args:
        lines: Its lines that are not blank.
        after_blank: Whether a blank line stands above each.
    """
    reader = _Reader(lines, after_blank)
    for number in range(len(lines)):
        reader.read(number)
    reader.finish()
    return Structure(reader.blocks, reader.indents, reader.continues)


class _Reader:
    """Reads lines in order and keeps the blocks that are open."""

    def __init__(self, lines: Sequence[str], after_blank: Sequence[bool]) -> None:
        self.blocks: list[Block] = []
        self.indents: list[int] = []
        self.continues: list[bool] = []
        self._lines = lines
        self._after_blank = after_blank
        self._open: list[int] = []
        self._owners: list[int] = []
        self._depth = 0
        # The mark that ends a string or comment over several lines, and the indent of its first line.
        self._until: str | None = None
        self._text_indent = 0

    def read(self, number: int) -> None:
        line = self._lines[number]
        code = line.lstrip()
        indent = len(line[: len(line) - len(code)].expandtabs(8))
        if self._until is not None:
            indent = self._text_indent + 1
            self._place(number, indent, closes=False, annotates=False)
            self._follow_text(line)
            return
        closes = _CLOSES.match(code) is not None
        block = self._place(number, indent, closes=closes, annotates=_ANNOTATES.match(code) is not None)
        self._text_indent = self.indents[-1]
        self._follow_text(code)
        self._depth += sum(map(code.count, "([{")) - sum(map(code.count, ")]}"))
        if _OPENS.search(code):
            block.opened = True

    def finish(self) -> None:
        while self._open:
            self.blocks[self._open.pop()].end = len(self._lines)

    def _place(self, number: int, indent: int, *, closes: bool, annotates: bool) -> Block:
        """Put a line into the innermost open block that it continues or lies in; else begin one."""
        ends = closes and self._lines[number].lstrip()[0] in ")]}"
        while self._open:
            block = self.blocks[self._open[-1]]
            bracket = block.opened and self._depth > block.depth and not ends
            if indent > block.indent or bracket:
                indent = max(indent, block.indent + 1)
                break
            if indent == block.indent and self._continued(block, number, closes, annotates):
                block.last = number
                self._note(self._open[-1], indent, continues=True)
                return block
            block.end = number
            self._open.pop()
        parent = self._open[-1] if self._open else None
        begun = Block(number, number, number, number, indent, parent, annotates, depth=self._depth)
        self._open.append(len(self.blocks))
        self.blocks.append(begun)
        self._note(self._open[-1], indent, continues=False)
        return begun

    def _note(self, block: int, indent: int, *, continues: bool) -> None:
        self._owners.append(block)
        self.indents.append(indent)
        self.continues.append(continues)

    def _continued(self, block: Block, number: int, closes: bool, annotates: bool) -> bool:
        line, above = self._lines[number].lstrip(), self._lines[block.last].strip()
        if closes and line[0] in "{.":
            # An object after an object, a rule of a style sheet after a rule: each is a block of its own.
            closes = above[-1] not in ";{[" and above not in ("}", "},") and not self._after_blank[number]
            if closes and line[0] == "{":
                self._take_types(block)
        if closes:
            block.opened = False
            block.annotates = block.annotates and line[0] != "}"
            return True
        if block.annotates and not self._after_blank[number]:
            block.annotates = annotates
            block.subject = number
            return True
        return False

    def _take_types(self, block: Block) -> None:
        """Add the line of types above a function's name to its block, with what that line continues."""
        above = block.start - 1
        if above < 0 or self._after_blank[block.start]:
            return
        before = self.blocks[self._owners[above]]
        alone = before.indent == block.indent and before.last == before.subject == above
        if alone and _TYPES.match(self._lines[above].strip()):
            block.start, block.subject = before.start, above
            before.end = before.start

    def _follow_text(self, code: str) -> None:
        """Note whether a string in triple quotes or a comment is open at the end of a line."""
        if self._until == "*/":
            self._until = None if "*/" in code else self._until
            return
        if self._until is None and code.startswith("/*"):
            self._until = None if "*/" in code[2:] else "*/"
            return
        if self._until is None and code.startswith(("#", "//")):
            return
        if '"""' in code or "'''" in code:
            for mark in _QUOTES.finditer(code):
                if self._until is None:
                    self._until = mark.group()
                elif self._until == mark.group():
                    self._until = None
