"""One for all of its kind: "an API key rotates" and "API keys rotate"."""

from collections.abc import Sequence

from hydramem.ingest.telling import words
from hydramem.ingest.telling.tokens import Token

_LEAST = 3


def same_kind(new: Sequence[Token], old: Sequence[Token]) -> bool:
    """Say whether two texts say one thing of a kind, one of them in the plural.

    Nothing may differ but the number of one noun and that of the verb behind it, and the plural must have
    no article: "the keys" are some, "keys" are all.
    """
    return _of_all(new, old) or _of_all(old, new)


def _of_all(several: Sequence[Token], one: Sequence[Token]) -> bool:
    if len(several) != len(one) or len(one) < _LEAST:
        return False
    first, head = several[0], one[0]
    if first.article or first.form in words.OWNERS or first.owner or not head.article:
        return False
    apart = [
        (many.form, single.form)
        for many, single in zip(several, one, strict=True)
        if (many.form, many.owner) != (single.form, single.owner)
    ]
    if len(apart) != 2 or any(token.article for token in (*several[1:2], *one[1:2])):
        return False
    (noun, thing), (verb, does) = apart
    copula = (verb, does) in (("are", "is"), ("have", "has"))
    if copula and head.article not in words.INDEFINITES:
        return False
    return _plural(noun, thing) and (copula or _plural(does, verb))


def _plural(longer: str, shorter: str) -> bool:
    if shorter.endswith("y") and longer == f"{shorter[:-1]}ies":
        return True
    return longer in (f"{shorter}s", f"{shorter}es")
