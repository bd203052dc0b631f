"""Finds blocks of private keys, also quoted, indented, escaped or cut at either end."""

import re
from collections.abc import Iterator

from hydramem.ingest.screening.secret_values import Secret, is_random

_BEGIN = re.compile(r"-----BEGIN (?:[A-Z0-9]{1,12} ){0,4}PRIVATE KEY(?: BLOCK)?-----")
# Between lines: spaces, escaped ends of lines, and what quotes a line.
_BETWEEN = r"(?:\s|\\[nr]|[>|#*\"',])*+"
_BODY = re.compile(rf"(?:{_BETWEEN}(?:[A-Za-z-]{{4,20}}: [^\n]{{0,200}}\n|[A-Za-z0-9+/=]{{16,}}+))++")
_END = re.compile(rf"(?:{_BETWEEN}[A-Za-z0-9+/=]{{1,76}}+)?+{_BETWEEN}-----END [A-Z0-9 ]{{0,60}}-----")
_CUT_END = re.compile(r"-----END (?:[A-Z0-9]{1,12} ){0,4}PRIVATE KEY(?: BLOCK)?-----")
_LINE = re.compile(r"[\s>|#*\"',]{0,20}[A-Za-z0-9+/=]{1,100}[\s\"',\\nr]{0,8}")
_LEAST = 16


def find_key_blocks(text: str) -> Iterator[Secret]:
    """Yield private keys with their first and last lines; a header alone is talk about keys."""
    if "PRIVATE KEY" not in text:
        return
    done = 0
    for begin in _BEGIN.finditer(text):
        body = _BODY.match(text, begin.end())
        if body:
            end = _END.match(text, body.end()) or body
            yield Secret(kind="private key", start=begin.start(), end=end.end())
            done = end.end()
    for cut in _CUT_END.finditer(text, done):
        start = _start_of(text, done, cut.start())
        if start < cut.start():
            yield Secret(kind="private key", start=start, end=cut.end())
        done = cut.end()


def _start_of(text: str, least: int, end: int) -> int:
    """Return where the lines of base64 before the last line of a key begin; its own place without any."""
    start, longest = end, ""
    for line in reversed(text[least:end].splitlines(keepends=True)):
        if not _LINE.fullmatch(line):
            break
        start -= len(line)
        longest = max(longest, line.strip(), key=len)
    return start if is_random(longest, _LEAST) else end
