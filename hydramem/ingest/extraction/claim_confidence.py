"""How likely claims are right: counted on labelled output, by type, by what found them and by where.

The counts are in `data/relation_confidence.toml`; `benchmarks/relation_confidence.py` counts labels anew.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cache

from hydramem.core.package_data import data_tables
from hydramem.ingest.extraction.findings import Claim

_PRIOR = 4.0
"""Labels that the mean of all types counts for, where a type has few of its own."""

_UNKNOWN, _MOST = 0.5, 0.95


@cache
def confidence_of(type: str, how: str, *, document: bool) -> float:
    """Return the share of such claims that is right, the labels of a type drawn to the mean of all."""
    tables = data_tables("relation_confidence")
    counts: dict[str, list[int]] = tables["document" if document else "memory"].get(how, {})
    if not counts:
        return _UNKNOWN
    right = sum(each[0] for each in counts.values())
    mean = (right + 1) / (right + sum(each[1] for each in counts.values()) + 2)
    own_right, own_wrong = counts.get(type, [0, 0])
    return round(min((own_right + _PRIOR * mean) / (own_right + own_wrong + _PRIOR), _MOST), 2)


@cache
def _least(*, document: bool) -> float:
    return float(data_tables("relation_confidence")["least"]["document" if document else "memory"])


def scored(claims: Iterable[Claim], *, document: bool) -> list[Claim]:
    """Return claims with their confidence, those that are likely enough."""
    least = _least(document=document)
    scores = (
        replace(each, confidence=confidence_of(each.type, each.how, document=document)) for each in claims
    )
    return [each for each in scores if each.confidence >= least]


def united(rules: Sequence[Claim], parsed: Iterable[Claim]) -> list[Claim]:
    """Unite what rules and a parse found.

    Of a pair that both found, the rules' type stands. A subject that the rules supplied yields to what
    the parse found for the same type and end.
    """
    found = list(parsed)
    pairs = {frozenset((each.subject, each.object)) for each in found}
    parsed_ends = {(each.type, end) for each in found for end in (each.subject, each.object)}
    claims: dict[tuple[str, str, str], Claim] = {}
    for each in rules:
        if frozenset((each.subject, each.object)) in pairs:
            claims[_key(each)] = replace(each, how="both")
        elif each.how != "indirect" or parsed_ends.isdisjoint(
            ((each.type, each.subject), (each.type, each.object))
        ):
            claims[_key(each)] = each
    agreed = {frozenset(key[::2]) for key, each in claims.items() if each.how == "both"}
    for each in found:
        if frozenset((each.subject, each.object)) not in agreed:
            claims.setdefault(_key(each), each)
    return list(claims.values())


def _key(claim: Claim) -> tuple[str, str, str]:
    return claim.subject, claim.type, claim.object
