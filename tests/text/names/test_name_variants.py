"""Which names may stand for others, and which never do."""

import pytest

from hydramem.text.names.name_variants import (
    Variant,
    name_form,
    variant,
)


@pytest.mark.parametrize(
    ("short", "long", "how"),
    [
        ("AW", "Dr Ada Wroblewska", "initials"),
        ("KL300", "KilnLine 300", "initials"),
        ("3rd Breakfast", "Third Breakfast", "misspelled"),
        ("Mina", "Wilhelmina Oster", "part"),
        ("Mrs Oster", "Wilhelmina Oster", "part"),
        ("Mohammed al-Basri", "Muhammad el-Basri", "misspelled"),
        ("the orchard project", "Orchards of Linden", "described"),
    ],
)
def test_a_name_stands_for_another(short: str, long: str, how: Variant) -> None:
    one, other = name_form(short), name_form(long)
    found = variant(one, other)
    assert found is not None and found[0].how == how
    assert found[1] or how in ("misspelled", "described"), "one of these is as short as the other"
    assert variant(other, one) == (found[0], not found[1])


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Upper Mill Street shop", "Lower Mill Street shop"),
        ("Form Blue-7", "Form Blue-17"),
        ("the blue project", "the green project"),
        ("AW", "Bella Wroblewska"),
        ("!!", "??"),
    ],
)
def test_other_things_stay_apart(one: str, other: str) -> None:
    assert variant(name_form(one), name_form(other)) is None
    assert variant(name_form(other), name_form(one)) is None


def test_the_equal_counts_more_than_the_alike() -> None:
    exact = variant(name_form("Falcon"), name_form("Project Falcon"))
    heard = variant(name_form("Falkon"), name_form("Project Falcon"))
    whole = variant(name_form("AWB"), name_form("Ada Wroblewska Birk"))
    less = variant(name_form("AWB"), name_form("Ada Wroblewska Birk Olsen"))
    assert exact and heard and exact[0].likeness > heard[0].likeness
    assert whole and less and whole[0].likeness > less[0].likeness
