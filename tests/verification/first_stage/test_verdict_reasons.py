"""The sentence that says why the first stage decided as it did: which reasons hold, and which are told."""

import pytest

from hydramem.core.row_types import Decision, RelationCandidate
from hydramem.verification.first_stage.verdict_reasons import explanation
from tests.graph.graphs import entity, relation

ADA, BILLING = entity("Ada"), entity("billing")
SILENT = "there is neither a passage nor a neighbourhood that says anything of it."

STATED = "a sentence names both with words for led by"
NAMED = "one sentence names both"
SUBJECT_LIKE = "what is like Ada stands so to billing"
OBJECT_LIKE = "Ada stands so to what is like billing"
PATHS = "the paths between them are those of led by"
SOURCES = "several sources mention both"

DENIED = "the sentence denies it"
TURNED = "the sentence has it the other way round"
NO_OBJECT = "no passage names billing"
NO_SUBJECT = "no passage names Ada"
APART = "no sentence names both"
NO_WORD = "the sentence has no word for led by"
KIND = "billing is not the kind of thing that led by takes"
SUBJECT_KIND = "Ada is not the kind of thing that has led by"
RIVAL = "another name stands nearer to the words for led by"
OTHER = "the words next to billing say something else"
OCCUPIED = "Ada has another led by"
UNLIKE = "nothing like Ada stands so to billing"
WRONG_PATHS = "the paths between them are not those of led by"
ALONE = "the graph joins an end to nothing else"

BOTH = {"text": 1.0, "subject_named": 1.0, "object_named": 1.0}
"""A passage names both ends."""
STATING = {"same_sentence": 0.6, "cue_in_sentence": 1.0}


def told(
    values: dict[str, float],
    parts: dict[str, float] | None = None,
    decision: Decision = "deferred",
    **ends: object,
) -> str:
    subject, object = ends.get("subject", ADA), ends.get("object", BILLING)
    candidate = RelationCandidate(
        relation=relation(subject, str(ends.get("type", "led_by")), object), subject=subject, object=object
    )
    return explanation(candidate, decision, 0.456, values, parts or {})


def reasons(values: dict[str, float], parts: dict[str, float] | None = None) -> tuple[set[str], set[str]]:
    """Return the reasons for and against that are told."""
    sentence = told(values, parts).removeprefix("Left open at 0.46: ").removesuffix(".")
    if sentence + "." == SILENT:
        return set(), set()
    pro, _, contra = sentence.partition("against it, ")
    return tuple(set(part.rstrip("; ").split(" and ")) - {""} for part in (pro, contra))


@pytest.mark.parametrize(
    ("values", "pro", "contra"),
    [
        ({}, set(), set()),
        ({"evidence": 0.5}, {SOURCES}, set()),
        ({"evidence": 0.0}, set(), set()),
        ({"like_subject": 0.3}, {SUBJECT_LIKE}, set()),
        ({"like_subject": 0.29}, set(), set()),
        ({"like_object": 0.3}, {OBJECT_LIKE}, set()),
        ({"like_object": 0.29}, set(), set()),
        ({"mean_path": 0.1}, {PATHS}, set()),
        ({"mean_path": -0.1}, set(), {WRONG_PATHS}),
        ({"same_sentence": 1.0, "cue_in_sentence": 1.0}, {STATED}, set()),
        (STATING, {STATED}, set()),
        ({"same_sentence": 0.0, "cue_in_sentence": 1.0}, set(), set()),
        ({"same_sentence": 1.0}, {NAMED}, set()),
        ({"same_sentence": 0.6}, set(), set()),
        ({"negated": 1.0}, set(), {DENIED}),
        ({"turned": 1.0}, set(), {TURNED}),
        ({"text": 1.0, "subject_named": 1.0}, set(), {NO_OBJECT}),
        ({"text": 1.0, "object_named": 1.0} | STATING, {STATED}, {NO_SUBJECT}),
        (BOTH | {"cue_in_sentence": 1.0}, set(), {APART}),
        (BOTH | {"same_sentence": 1.0}, {NAMED}, {NO_WORD}),
        (BOTH | {"same_sentence": 0.6}, set(), {NO_WORD}),
        (BOTH, set(), {APART, NO_WORD}),
        (BOTH | {"same_sentence": 1.0, "cue_in_sentence": 1.0}, {STATED}, set()),
        ({"kind_differs": 1.0}, set(), {KIND}),
        ({"subject_differs": 1.0}, set(), {SUBJECT_KIND}),
        ({"rival": 1.0}, set(), {RIVAL}),
        ({"other_cue": 0.1}, set(), {OTHER}),
        ({"occupied": 0.8}, set(), {OCCUPIED}),
        ({"occupied": 0.79}, set(), set()),
        ({"topology": 1.0}, set(), {UNLIKE}),
        ({"topology": 1.0, "like_subject": 0.09}, set(), {UNLIKE}),
        ({"topology": 1.0, "like_subject": 0.1}, set(), set()),
        ({"isolated": 1.0}, set(), {ALONE}),
    ],
)
def test_each_reason_holds_where_its_features_say_so(
    values: dict[str, float], pro: set[str], contra: set[str]
) -> None:
    assert reasons(values) == (pro, contra)


def test_the_two_strongest_of_either_side_are_told_the_stronger_first() -> None:
    values = dict.fromkeys(("similarity", "evidence", "mean_path", "rival", "negated", "turned"), 1.0)
    parts = {"like_object": 0.2, "evidence": -0.4, "best_path": 0.2, "mean_path": 0.1}
    parts |= {"rival": -0.1, "negated": -2.0, "turned": -1.0}
    assert told(values, parts) == (
        f"Left open at 0.46: {SOURCES} and {PATHS}; against it, {DENIED} and {TURNED}."
    )


BOTH_PRO = {"evidence": 1.0, "mean_path": 1.0}


@pytest.mark.parametrize(
    ("decision", "values", "sentence"),
    [
        ("accepted", {"evidence": 1.0}, f"Accepted at 0.46: {SOURCES}."),
        ("accepted", {"evidence": 1.0, "rival": 1.0}, f"Accepted at 0.46: {SOURCES}; against it, {RIVAL}."),
        ("accepted", {"rival": 1.0}, f"Accepted at 0.46: against it, {RIVAL}."),
        ("rejected", {"rival": 1.0}, f"Not believed at 0.46: {RIVAL}."),
        ("rejected", {"evidence": 1.0, "rival": 1.0}, f"Not believed at 0.46: {RIVAL}; for it, {SOURCES}."),
        ("rejected", {"evidence": 1.0}, f"Not believed at 0.46: for it, {SOURCES}."),
        ("rejected", BOTH_PRO, f"Not believed at 0.46: for it, {PATHS} and {SOURCES}."),
        ("deferred", {}, f"Left open at 0.46: {SILENT}"),
    ],
)
def test_what_decided_comes_first(decision: Decision, values: dict[str, float], sentence: str) -> None:
    assert told(values, decision=decision) == sentence


def test_long_names_are_cut_and_types_are_written_as_words() -> None:
    long = entity("x" * 61)
    ends = {"subject": long, "object": long, "type": "t_" * 40}
    assert told({"like_subject": 1.0}, **ends) == (
        f"Left open at 0.46: what is like {'x' * 60} stands so to {'x' * 60}."
    )
    assert told({"rival": 1.0}, **ends).endswith(f"the words for {'t ' * 30}.")
    assert told({"like_subject": 1.0}, object=entity("y" * 60)).endswith(f"stands so to {'y' * 60}.")
