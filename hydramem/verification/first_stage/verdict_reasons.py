"""Why the first stage decided as it did: one sentence with the strongest reasons for and against."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from hydramem.core.package_data import data_tables
from hydramem.core.row_types import Decision, RelationCandidate

_MOST_REASONS = 2
_LONGEST_NAME = 60
_OPENINGS: dict[Decision, str] = {
    "accepted": "Accepted",
    "rejected": "Not believed",
    "deferred": "Left open",
}

Values = Mapping[str, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Reason:
    """A reason in words, the features that carry its weight, and the conditions under which it holds."""

    words: str
    features: Sequence[str]
    above: Values = field(default_factory=dict)
    least: Values = field(default_factory=dict)
    below: Values = field(default_factory=dict)
    zero: Sequence[str] = ()

    def holds(self, values: Values) -> bool:
        return (
            all(values.get(name, 0) > bound for name, bound in self.above.items())
            and all(values.get(name, 0) >= bound for name, bound in self.least.items())
            and all(values.get(name, 0) < bound for name, bound in self.below.items())
            and not any(values.get(name, 0) for name in self.zero)
        )


_TABLES = data_tables("verdict_reasons")
_FOR, _AGAINST = ([_Reason(**row) for row in _TABLES[side]] for side in ("for", "against"))


def explanation(
    candidate: RelationCandidate, decision: Decision, score: float, values: Values, parts: Values
) -> str:
    """Return one sentence for a person.

    Args:
        candidate, decision: The claim, and what was decided.
        score: Probability that it is true.
        values: Features by name; missing ones are zero.
        parts: What each feature adds to the log-odds.
    """
    names = {
        "subject": candidate.subject.name[:_LONGEST_NAME],
        "type": candidate.relation.type.replace("_", " ")[:_LONGEST_NAME],
        "object": candidate.object.name[:_LONGEST_NAME],
    }
    # Names are filled in once: a name with braces in it is not filled in again.
    pro, contra = (
        " and ".join(words.format_map(names) for words in _strongest(reasons, values, parts))
        for reasons in (_FOR, _AGAINST)
    )
    opening = f"{_OPENINGS[decision]} at {score:.2f}"
    if not pro and not contra:
        return f"{opening}: there is neither a passage nor a neighbourhood that says anything of it."
    # What decided it comes first.
    if decision == "rejected":
        parts_of_sentence = [contra, f"for it, {pro}" if pro else ""]
    else:
        parts_of_sentence = [pro, f"against it, {contra}" if contra else ""]
    return f"{opening}: {'; '.join(filter(None, parts_of_sentence))}."


def _strongest(reasons: Sequence[_Reason], values: Values, parts: Values) -> list[str]:
    held = [reason for reason in reasons if reason.holds(values)]
    held.sort(key=lambda reason: -abs(sum(parts.get(name, 0.0) for name in reason.features)))
    return [reason.words for reason in held[:_MOST_REASONS]]
