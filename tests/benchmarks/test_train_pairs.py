"""The data of the pair classifier: groups parse, pairs have their labels, parts share no pair."""

import json
import random
from pathlib import Path

import numpy as np
import pytest

from benchmarks.train_pairs.card import fitted_bounds, fitted_temperature, softmax, table
from benchmarks.train_pairs.groups import LABELS, Filling, Group, read_groups
from benchmarks.train_pairs.pairs import Pair, pairs_of, turned
from hydramem.text.normalize import wording

DATA = Path(__file__).parents[2] / "benchmarks" / "data" / "pairs"
GROUPS = """
@town: Cork, Izmir, Recife
=changes {person!} lives in {town*}.
d {person}'s home is in {town}.
u {person} moved to {town2}.
r {person} lives in {town}, by the harbour.
n {person} grew up in {town2}.

=many {person!} speaks {town*}.
n {person} wants to learn {town2}.
"""


@pytest.fixture
def group(tmp_path: Path) -> Group:
    path = tmp_path / "own.txt"
    path.write_text(GROUPS, encoding="utf-8")
    return read_groups(path)[0]


@pytest.fixture(scope="module")
def trained_on() -> list[Group]:
    return [group for path in sorted((DATA / "train").glob("*.txt")) for group in read_groups(path)]


def test_pairs_have_the_label_of_their_line(group: Group):
    pairs = pairs_of(group, random.Random(1))
    found = {(pair.how, pair.label) for pair in pairs}
    assert {("line", "update"), ("line", "refine"), ("value", "update"), ("subject", "unrelated")} <= found
    assert all(pair.label in LABELS for pair in pairs)
    assert turned(pairs[0]).old == pairs[0].new


def test_bounds_keep_harm_within_what_is_allowed():
    draw = np.random.default_rng(0)
    pairs = [Pair(old="a", new="b", label=label, group="g", how="k") for label in LABELS for _ in range(100)]
    right = np.array([LABELS.index(pair.label) for pair in pairs])
    scores = draw.normal(size=(len(pairs), len(LABELS))) * 2
    scores[np.arange(len(pairs)), right] += 3
    assert 0.9 < fitted_temperature(scores * 2, pairs) / fitted_temperature(scores, pairs) / 2 < 1.1
    shares = softmax(scores, fitted_temperature(scores, pairs))
    bounds = fitted_bounds(shares, pairs)
    found = table(shares, pairs, bounds)
    assert found["look_alikes_linked"] <= 0.12
    assert found["updates_linked"] > 0.5


def test_no_text_of_the_test_parts_is_trained_on(trained_on: list[Group]):
    plain = {wording(text).casefold() for group in trained_on for text in _texts(group)}
    for name in ("test.jsonl", "calibration.jsonl"):
        rows = [json.loads(line) for line in (DATA / name).read_text(encoding="utf-8").splitlines()]
        assert not {wording(row[key]).casefold() for row in rows for key in ("old", "new")} & plain


def _texts(group: Group) -> list[str]:
    filling = Filling(random.Random(0), group.lists)
    return [filling.fill(text) for text in (group.old, *(line.text for line in group.lines))]
