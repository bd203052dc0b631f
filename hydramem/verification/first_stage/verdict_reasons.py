"""Why the first stage decided as it did: one sentence, the strongest reasons for and against."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from hydramem.core.row_types import Decision, RelationCandidate

_MOST_REASONS = 2
_LONGEST_NAME = 60
_LIKE, _UNLIKE = 0.3, 0.1
_OPENINGS: dict[Decision, str] = {
    "accepted": "Accepted",
    "rejected": "Not believed",
    "deferred": "Left open",
}
Values = Mapping[str, float]


@dataclass(frozen=True, slots=True)
class _Reason:
    """A reason in words, the features that carry its weight, and when it is one."""

    words: str
    features: tuple[str, ...]
    holds: Callable[[Values], bool]


def _has(name: str) -> Callable[[Values], bool]:
    return lambda values: values.get(name, 0) > 0


def _lacks(name: str) -> Callable[[Values], bool]:
    return lambda values: values.get("text", 0) > 0 and values.get(name, 0) == 0


_FOR = (
    _Reason(
        "a sentence names both with words for {type}",
        ("object_named", "closeness", "cue_in_sentence", "cue_near", "cue_adjacent", "in_order"),
        lambda values: values.get("same_sentence", 0) > 0 and values.get("cue_in_sentence", 0) > 0,
    ),
    _Reason(
        "one sentence names both",
        ("object_named", "closeness"),
        lambda values: values.get("same_sentence", 0) >= 1 and not values.get("cue_in_sentence", 0),
    ),
    _Reason(
        "what is like {subject} stands so to {object}",
        ("like_subject",),
        lambda values: values.get("like_subject", 0) >= _LIKE,
    ),
    _Reason(
        "{subject} stands so to what is like {object}",
        ("like_object",),
        lambda values: values.get("like_object", 0) >= _LIKE,
    ),
    _Reason(
        "the paths between them are those of {type}",
        ("best_path", "mean_path"),
        lambda values: values.get("mean_path", 0) > 0,
    ),
    _Reason("several sources mention both", ("evidence",), _has("evidence")),
    _Reason("the passage reads like it", ("similarity",), lambda values: values.get("similarity", 0) >= 0.5),
)
_AGAINST = (
    _Reason("the sentence denies it", ("negated",), _has("negated")),
    _Reason("the sentence has it the other way round", ("turned",), _has("turned")),
    _Reason("no passage names {object}", ("text",), _lacks("object_named")),
    _Reason("no passage names {subject}", ("text",), _lacks("subject_named")),
    _Reason(
        "no sentence names both",
        ("object_named",),
        lambda values: values.get("object_named", 0) > 0 and not values.get("same_sentence", 0),
    ),
    _Reason(
        "the sentence has no word for {type}",
        ("cue_adjacent",),
        lambda values: values.get("object_named", 0) > 0 and not values.get("cue_in_sentence", 0),
    ),
    _Reason("{object} is not the kind of thing that {type} takes", ("kind_differs",), _has("kind_differs")),
    _Reason(
        "{subject} is not the kind of thing that has {type}", ("subject_differs",), _has("subject_differs")
    ),
    _Reason("another name stands nearer to the words for {type}", ("rival",), _has("rival")),
    _Reason("the words next to {object} say something else", ("other_cue",), _has("other_cue")),
    _Reason("{subject} has another {type}", ("occupied",), lambda values: values.get("occupied", 0) >= 0.8),
    _Reason(
        "nothing like {subject} stands so to {object}",
        ("topology", "head_share"),
        lambda values: values.get("topology", 0) > 0 and values.get("like_subject", 0) < _UNLIKE,
    ),
    _Reason(
        "the paths between them are not those of {type}",
        ("worst_path", "mean_path"),
        lambda values: values.get("mean_path", 0) < 0,
    ),
    _Reason("the graph joins an end to nothing else", ("isolated",), _has("isolated")),
)


def explanation(
    candidate: RelationCandidate, decision: Decision, score: float, values: Values, parts: Values
) -> str:
    """Return one sentence for a person.

    Args:
        candidate: What was judged.
        decision: What was decided.
        score: Probability that it is true.
        values: Features by name; those that are not there are zero.
        parts: What each feature adds to the log-odds.
    """
    names = {
        "subject": candidate.subject.name[:_LONGEST_NAME],
        "type": candidate.relation.type.replace("_", " ")[:_LONGEST_NAME],
        "object": candidate.object.name[:_LONGEST_NAME],
    }
    pro = [_filled(words, names) for words in _strongest(_FOR, values, parts)]
    contra = [_filled(words, names) for words in _strongest(_AGAINST, values, parts)]
    opening = f"{_OPENINGS[decision]} at {score:.2f}"
    if not pro and not contra:
        return f"{opening}: there is neither a passage nor a neighbourhood that says anything of it."
    against = f"against it, {' and '.join(contra)}" if contra else ""
    # What decided it comes first.
    told = [" and ".join(pro), against] if decision != "rejected" else [" and ".join(contra), _but(pro)]
    return f"{opening}: {'; '.join(part for part in told if part)}."


def _but(pro: list[str]) -> str:
    return f"for it, {' and '.join(pro)}" if pro else ""


def _strongest(reasons: tuple[_Reason, ...], values: Values, parts: Values) -> Iterator[str]:
    held = [reason for reason in reasons if reason.holds(values)]
    held.sort(key=lambda reason: -abs(sum(parts.get(name, 0.0) for name in reason.features)))
    for reason in held[:_MOST_REASONS]:
        yield reason.words


def _filled(words: str, names: Mapping[str, str]) -> str:
    # One pass over the words: a name with braces in it is not filled again.
    return words.format_map(names)
