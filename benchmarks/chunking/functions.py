"""Where the functions of a source file are, found apart from the rules that cut it.

A function counts with its decorators and with the comment right above it. What lies within another function
is not counted.
"""

import ast
import re
from dataclasses import dataclass

Span = tuple[int, int]

# Comments, texts in quotes, and directives of the preprocessor: what may hold a brace that is none.
_NO_CODE = re.compile(
    r"(?P<comment>//[^\n]*|/\*.*?\*/)"
    r"|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'|`(?:\\.|[^`\\])*`"
    r"|^[ \t]*#(?:\\\n|[^\n])*",
    re.DOTALL | re.MULTILINE,
)
_HEAD = re.compile(r"[\w>\])]\s*\([^{}]*\)\s*(?:(?:const|noexcept|override|final)\s*)*(?::[^:;?]*)?\s*\Z")
_NO_FUNCTION = re.compile(
    r"\s*(?:if|for|while|switch|catch|else|do|return|new|namespace|struct|enum)\b|[^(]*="
)
_CYTHON_HEAD = re.compile(
    r"(?P<indent>[ \t]*)(?:async\s+def|def|cpdef|cdef(?!\s+(?:class|extern)\b))\s[^=\n]*\("
)


@dataclass(frozen=True, slots=True)
class _Scope:
    """An open brace: where what stands before it begins, and whether it is within a function."""

    start: int
    is_function: bool
    inside: bool


def python_functions(text: str) -> list[Span]:
    """Return the functions and methods of Python source, by its own parser."""
    lines = _line_starts(text)
    found: list[Span] = []

    def visit(node: ast.AST) -> None:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
                first = min([child.lineno, *(one.lineno for one in child.decorator_list)])
                start = _with_lines_above(text, lines[first - 1], ("#",))
                found.append((start, lines[child.end_lineno or first]))
            else:
                visit(child)

    visit(ast.parse(text))
    return found


def cython_functions(text: str) -> list[Span]:
    """Return the functions and methods of Cython source, by indentation."""
    lines = [f"{line}\n" for line in text.split("\n")]
    starts = _line_starts(text)
    found: list[Span] = []
    number = 0
    while number < len(lines):
        head = _CYTHON_HEAD.match(lines[number])
        last = None if head is None else _signature_end(lines, number)
        if head is None or last is None:
            number += 1
            continue
        stop = last + 1
        for below in range(last + 1, len(lines)):
            line = lines[below]
            if line.strip() and len(line) - len(line.lstrip()) <= len(head["indent"]):
                break
            stop = below + 1 if line.strip() else stop
        found.append((_with_lines_above(text, starts[number], ("#", "@")), starts[stop]))
        number = stop
    return found


def brace_functions(text: str) -> list[Span]:
    """Return the functions of source in a language with braces, such as C; none where they do not balance."""
    code, comments = _without_comments(text)
    found: list[Span] = []
    opened: list[_Scope] = []
    begin = 0
    for match in re.finditer(r"[{};]", code):
        mark, place = match.group(), match.start()
        if mark == "{":
            head = code[begin:place]
            inside = bool(opened) and (opened[-1].inside or opened[-1].is_function)
            is_function = not inside and bool(_HEAD.search(head)) and not _NO_FUNCTION.match(head)
            opened.append(_Scope(begin + len(head) - len(head.lstrip()), is_function, inside))
        elif mark == "}":
            if not opened:
                return []
            scope = opened.pop()
            if scope.is_function:
                start = text.rfind("\n", 0, scope.start) + 1
                found.append((_with_comment_above(text, comments, start), place + 1))
        begin = place + 1
    return [] if opened else found


def _without_comments(text: str) -> tuple[str, str]:
    """Return the text with all but code blanked, and with all but comments blanked."""

    def blank(part: str) -> str:
        return re.sub(r"[^\n]", " ", part)

    pieces: list[str] = []
    comments: list[str] = []
    position = 0
    for match in _NO_CODE.finditer(text):
        pieces += [text[position : match.start()], blank(match.group())]
        comments += [blank(text[position : match.start()])]
        comments += [match.group() if match["comment"] else blank(match.group())]
        position = match.end()
    return "".join([*pieces, text[position:]]), "".join([*comments, blank(text[position:])])


def _with_comment_above(text: str, comments: str, start: int) -> int:
    """Return where the comment begins that ends in the line above; `start` where none does."""
    while start > 0:
        above = text.rfind("\n", 0, start - 1) + 1
        line, comment = text[above : start - 1].strip(), comments[above : start - 1].strip()
        if not line or line != comment:
            break
        start = above
    return start


def _with_lines_above(text: str, start: int, marks: tuple[str, ...]) -> int:
    first = text[start : text.find("\n", start)]
    indent = len(first) - len(first.lstrip())
    while start > 0:
        above = text.rfind("\n", 0, start - 1) + 1
        line = text[above : start - 1]
        if not line.lstrip().startswith(marks) or len(line) - len(line.lstrip()) != indent:
            break
        start = above
    return start


def _signature_end(lines: list[str], first: int) -> int | None:
    """Return the line that ends a signature with a colon; None where it is a declaration without a body."""
    depth = 0
    for number in range(first, len(lines)):
        line = lines[number].partition("#")[0].rstrip()
        depth += sum(map(line.count, "([")) - sum(map(line.count, ")]"))
        if depth <= 0:
            return number if line.endswith(":") else None
    return None


def _line_starts(text: str) -> list[int]:
    """Return where each line begins, and where one after the last would; lines end in line feeds alone."""
    starts = [0]
    for line in text.split("\n"):
        starts.append(starts[-1] + len(line) + 1)
    return [min(start, len(text)) for start in starts]
