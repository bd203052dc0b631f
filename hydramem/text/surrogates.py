"""Lone surrogates: halves of characters, which Python's text can hold and nothing else can."""

import re

_SURROGATE = re.compile("[\ud800-\udfff]")


def well_formed(text: str) -> str:
    """Replace lone surrogates, which no tokenizer, store or socket can encode, by U+FFFD, one by one."""
    return _SURROGATE.sub("\ufffd", text)
