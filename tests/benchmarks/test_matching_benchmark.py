"""The measurement of matching: it reads records, fits, and chooses a threshold that splits them."""

from itertools import pairwise
from pathlib import Path

import numpy as np

from benchmarks import matching
from benchmarks.matching import BASELINES, best_threshold, fitted, parts, score

NAMES = (
    "Grand Hotel",
    "Kestrel Inn",
    "Blue Boar",
    "Old Mill",
    "Quill House",
    "Harrow Lodge",
    "Red Lion",
    "Ash Farm",
)


def record(name: str, city: str) -> str:
    return f"COL name VAL {name} COL city VAL {city} COL phone VAL "


def write_set(folder: Path) -> None:
    folder.mkdir(parents=True)
    same = [f"{record(name, 'bath')}\t{record(f'The {name}', 'Bath')}\t1" for name in NAMES]
    apart = [f"{record(one, 'bath')}\t{record(other, 'paris')}\t0" for one, other in pairwise(NAMES)]
    for part in ("train", "valid", "test"):
        (folder / f"{part}.txt").write_text("\n".join(same + apart), encoding="utf-8")


def test_records_are_read_fitted_and_split(tmp_path: Path) -> None:
    write_set(tmp_path / "beer")
    read = parts(tmp_path / "beer")
    assert read["train"].features.shape == (15, 20) and read["test"].same.sum() == 8
    model = fitted({"beer": read["train"]})
    told = score("beer", read["valid"], read["test"], model)
    assert (told.f1, told.fields) == (1.0, BASELINES["beer"][1])
    assert "| beer | 15 |" in matching.shown([told])


def test_the_threshold_lies_between_what_is_one_and_what_is_two() -> None:
    chances, same = np.array([0.1, 0.2, 0.7, 0.9]), np.array([False, False, True, True])
    assert 0.2 < best_threshold(chances, same) <= 0.7
