"""Strings that make a regular expression slow: made of its own repeats, and some that suit many."""

import re
from collections.abc import Iterator
from re import _constants as codes  # type: ignore[attr-defined]  # the parser is no public module
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any

# What a repeat takes more often than this may take without end.
_UNBOUNDED = 1000
_PROBES = "a1 -.A\"\n<é_'"

SINGLE = tuple("[]()<{.…!?-=#*_~`'\"“«|/\\:;,@&%$+0aA é中。？\n\t\u200b")
PAIRS = (
    *("a-", "a.", "a ", "A ", "A.", "() ", "(a", "[a](", "<a>", "<a ", "</", "| ", "|-", "- ", "* ", "# "),
    *("#\n", "```\n", "~~~\n", "\n\n", "\n ", "> ", "1.", "1 ", "1,", "1-", "a@", "://", "http://a", "a/"),
    *("a:", "a: ", "a\n", '"a', "“a”", "a'", "e\u0301", "A-", "Aa ", "Aa of ", "中a", "a, ", "a and ", "_a"),
    *("-\n", "|a|\n", "A, ", "A & ", "\r\n", "a=", "0.", "\\x", "&a;", "not ", "is ", "¬ⅷ", "🙂a"),
)
# What makes the end of a match fail: a character that nothing expects, and some that are looked for.
ENDS = ("\x00", "a", "@")


def attacks(pattern: re.Pattern[str]) -> Iterator[tuple[str, str]]:
    """Yield prefixes and what to repeat after them: of the pattern's own repeats first, then of all kinds."""
    own = dict.fromkeys(_of_repeats(list(parser.parse(pattern.pattern, pattern.flags)), ""))
    yield from own
    yield from dict.fromkeys(("", prefix + body) for prefix, body in own if prefix)
    yield from (("", body) for body in (*SINGLE, *PAIRS))


def _of_repeats(items: list[Any], before: str) -> Iterator[tuple[str, str]]:
    for index, (code, argument) in enumerate(items):
        prefix = before + _example(items[:index])
        if code in (codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT):
            if argument[1] >= _UNBOUNDED:
                bodies = dict.fromkeys(_example(argument[2], choice) for choice in range(3))
                yield from ((prefix, body) for body in bodies if body)
            yield from _of_repeats(list(argument[2]), prefix)
        elif code is codes.SUBPATTERN:
            yield from _of_repeats(list(argument[3]), prefix)
        elif code is codes.ATOMIC_GROUP:
            yield from _of_repeats(list(argument), prefix)
        elif code is codes.BRANCH:
            for branch in argument[1]:
                yield from _of_repeats(list(branch), prefix)
        elif code in (codes.ASSERT, codes.ASSERT_NOT):
            yield from _of_repeats(list(argument[1]), prefix)


def _example(items: Any, choice: int = 0) -> str:
    """Return a text that a parsed pattern matches, or nearly so: references and assertions are left out."""
    found = ""
    for code, argument in items:
        if code is codes.LITERAL:
            found += chr(argument)
        elif code is codes.ANY:
            found += "a"
        elif code in (codes.IN, codes.NOT_LITERAL):
            found += _member([(code, argument)] if code is codes.NOT_LITERAL else argument, choice)
        elif code is codes.BRANCH:
            found += _example(argument[1][choice % len(argument[1])], choice)
        elif code is codes.SUBPATTERN:
            found += _example(argument[3], choice)
        elif code is codes.ATOMIC_GROUP:
            found += _example(argument, choice)
        elif code in (codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT):
            found += _example(argument[2], choice) * max(argument[0], 1 - choice % 2)
    return found


def _member(members: list[Any], choice: int) -> str:
    """Return a character of a set."""
    first = members[0]
    plain = [argument for code, argument in members if code is codes.LITERAL]
    if plain and first[0] is not codes.NEGATE and choice:
        return chr(plain[choice % len(plain)])
    fits = [probe for probe in _PROBES if _holds(members, probe)]
    if fits:
        return fits[choice % len(fits)]
    return chr(plain[0]) if plain else chr(first[1][0]) if first[0] is codes.RANGE else ""


def _holds(members: list[Any], character: str) -> bool:
    if members[0][0] is codes.NOT_LITERAL:
        return ord(character) != members[0][1]
    negated = members[0][0] is codes.NEGATE
    kinds = {
        codes.CATEGORY_DIGIT: r"\d",
        codes.CATEGORY_NOT_DIGIT: r"\D",
        codes.CATEGORY_SPACE: r"\s",
        codes.CATEGORY_NOT_SPACE: r"\S",
        codes.CATEGORY_WORD: r"\w",
        codes.CATEGORY_NOT_WORD: r"\W",
    }
    within = any(
        (code is codes.LITERAL and argument == ord(character))
        or (code is codes.RANGE and argument[0] <= ord(character) <= argument[1])
        or (code is codes.CATEGORY and re.match(kinds[argument], character) is not None)
        for code, argument in members[negated:]
    )
    return within != negated
