"""The page on security: each claim names tests that hold it, and they exist."""

import re

from tests import ROOT

PAGE = (ROOT / "docs" / "security.md").read_text(encoding="utf-8")
RESULTS = next((ROOT / "docs").rglob("results.md")).read_text(encoding="utf-8")
NAMED = re.compile(r"`(tests/[\w/]+\.py)?::(\w+)`")


def claims() -> list[tuple[str, str]]:
    """Return the rows of the tables: what is claimed, and what holds it."""
    rows = re.findall(r"^\| (.+?) \| (.+?) \|$", PAGE, flags=re.MULTILINE)
    return [row for row in rows if row[0] != "claim"]


def test_each_claim_names_tests_that_exist():
    assert len(claims()) > 20
    for claim, held_by in claims():
        found = NAMED.findall(held_by)
        assert found and held_by == ", ".join(f"`{file}::{name}`" for file, name in found), claim
        file = ""
        for named, name in found:
            file = named or file
            assert f"def {name}(" in (ROOT / file).read_text(encoding="utf-8"), f"{claim}: {file}::{name}"


def test_the_figures_are_the_measured_ones():
    for shown, row in (
        ("Of 160 attacks", "| unseen | hostile | all | 160 | 38 missed | 23.8 %"),
        ("38 pass (23.8 %)", "| unseen | hostile | all | 160 | 38 missed | 23.8 %"),
        ("ordinary texts, 4 are held back", "| unseen | benign | all | 400 | 4 held back |"),
        ("of 80 secrets, 3 are not found", "| unseen | secret | all | 80 | 3 not found |"),
    ):
        assert shown in PAGE
        assert row in RESULTS
