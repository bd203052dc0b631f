"""The data card of the pair classifier: `python -m benchmarks.train_pairs.card --model pairs.onnx`.

Temperature and bounds are fitted on `calibration.jsonl` and measured on `test.jsonl`. Each has an author of
its own, who saw neither the training part nor the rules. Both go to `hydramem/data/pairs`.
"""

import argparse
import hashlib
import json
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from onnxruntime import InferenceSession
from tokenizers import Tokenizer

from benchmarks.train_pairs.groups import LABELS, read_groups
from benchmarks.train_pairs.pairs import Pair
from hydramem.llm.pair_model import raw_scores
from hydramem.text.english import is_english

_DATA = Path(__file__).parents[1] / "data" / "pairs"
_PACKAGE = Path(__file__).parents[2] / "hydramem" / "data"
_AT_ONCE = 32
_LOOK_ALIKES_LINKED = 0.10
_PRECISION = {"duplicate": 0.8, "refine": 0.92}
_ENDS, _NEAR = 0.8, 0.2

Scores = NDArray[np.float64]
"""An array of shape (pairs, labels)."""


def main() -> None:
    """Fit, measure, and write the model with its card."""
    parser = argparse.ArgumentParser(prog="benchmarks.train_pairs.card", description=__doc__)
    parser.add_argument("--model", type=Path, required=True, help="pairs.onnx, as the training writes it")
    parser.add_argument("--out", type=Path, default=_PACKAGE / "pairs")
    given = parser.parse_args()
    words = Tokenizer.from_file(str(_PACKAGE / "minilm" / "tokenizer.json"))
    session = InferenceSession(given.model, providers=["CPUExecutionProvider"])
    calibration, test = (_judged(name, session, words) for name in ("calibration", "test"))
    temperature = fitted_temperature(*calibration)
    bounds = fitted_bounds(softmax(calibration[0], temperature), calibration[1])
    card = {
        "name": "hydramem pair classifier",
        "start": "sentence-transformers/all-MiniLM-L6-v2 (Apache-2.0)",
        "licence": "Apache-2.0",
        "language": "English; other texts are not judged",
        "texts": "one or two sentences each, at most 128 word pieces a pair",
        "training": training_counts(),
        "labels": list(LABELS),
        "sha256": hashlib.sha256(given.model.read_bytes()).hexdigest(),
        "temperature": round(temperature, 3),
        "bounds": bounds,
        "calibration": table(softmax(calibration[0], temperature), calibration[1], bounds),
        "test": table(softmax(test[0], temperature), test[1], bounds),
    }
    given.out.mkdir(parents=True, exist_ok=True)
    if given.model.resolve() != (given.out / "pairs.onnx").resolve():
        shutil.copyfile(given.model, given.out / "pairs.onnx")
    (given.out / "card.json").write_text(json.dumps(card, indent=1) + "\n", encoding="utf-8")
    print(json.dumps(card, indent=1))


def _judged(name: str, session: InferenceSession, words: Tokenizer) -> tuple[Scores, list[Pair]]:
    """Return the scores of the pairs of a set that the classifier would judge, and those pairs."""
    lines = (_DATA / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    pairs = [
        Pair(old=row["old"], new=row["new"], label=row["label"], group=name, how=row.get("kind", ""))
        for row in rows
        if is_english(f"{row['old']} {row['new']}")
    ]
    encodings = words.encode_batch([(pair.old, pair.new) for pair in pairs])
    found = [raw_scores(session, encodings[at : at + _AT_ONCE]) for at in range(0, len(pairs), _AT_ONCE)]
    return np.concatenate(found), pairs


def softmax(scores: Scores, temperature: float) -> Scores:
    """Return probabilities."""
    powers = np.exp((scores - scores.max(axis=1, keepdims=True)) / temperature)
    shares: Scores = powers / powers.sum(axis=1, keepdims=True)
    return shares


def fitted_temperature(scores: Scores, pairs: Sequence[Pair]) -> float:
    """Return the temperature with the least negative log likelihood (Guo et al., 2017)."""
    right = [LABELS.index(pair.label) for pair in pairs]
    each = np.arange(len(pairs))
    candidates = np.linspace(0.5, 3.0, 251)
    losses = [-np.log(softmax(scores, one)[each, right] + 1e-12).mean() for one in candidates]
    return float(candidates[int(np.argmin(losses))])


def fitted_bounds(shares: Scores, pairs: Sequence[Pair]) -> dict[str, float]:
    """Return the least probabilities that keep harm on these pairs within what is allowed."""
    labels = np.array([pair.label for pair in pairs])
    replaced = _supersedes(shares)
    alike = np.sort(replaced[labels == "unrelated"])[::-1]
    found = {
        "supersedes": float(alike[int(_LOOK_ALIKES_LINKED * len(alike))]),
        "ends": _ENDS,
        "near": _NEAR,
    }
    for label, least in _PRECISION.items():
        own = shares[:, LABELS.index(label)]
        precise = [one for one in np.linspace(0.2, 0.95, 76) if _share(labels[own >= one] == label) >= least]
        found[label] = float(min(precise, default=0.95))
    return {name: round(one, 3) for name, one in found.items()}


def _supersedes(shares: Scores) -> NDArray[np.float64]:
    both: NDArray[np.float64] = shares[:, [LABELS.index("update"), LABELS.index("contradict")]].sum(axis=1)
    return both


def table(shares: Scores, pairs: Sequence[Pair], bounds: Mapping[str, float]) -> dict[str, Any]:
    """Return how the classifier does on pairs, by label, and by kind of what it must not link."""
    labels = np.array([pair.label for pair in pairs])
    chosen = np.array([LABELS[place] for place in shares.argmax(axis=1)])
    linked = _supersedes(shares) >= bounds["supersedes"]
    found: dict[str, Any] = {
        "pairs": len(pairs),
        "accuracy": _share(chosen == labels),
        "updates_linked": _share(linked[labels == "update"]),
        "contradictions_linked": _share(linked[labels == "contradict"]),
        "look_alikes_linked": _share(linked[labels == "unrelated"]),
    }
    for label in ("duplicate", "refine"):
        sure = shares[:, LABELS.index(label)] >= bounds[label]
        found[f"{label}_recall"] = _share(sure[labels == label])
        found[f"{label}_precision"] = _share(labels[sure] == label)
    kinds = np.array([pair.how for pair in pairs])
    alike = labels == "unrelated"
    found["look_alikes_linked_by_kind"] = {
        kind: f"{int(linked[alike & (kinds == kind)].sum())}/{int((alike & (kinds == kind)).sum())}"
        for kind in sorted(set(kinds[alike]))
    }
    return found


def _share(yes: NDArray[np.bool_]) -> float:
    return round(float(yes.mean()), 3) if len(yes) else 0.0


def training_counts() -> dict[str, int]:
    """Return how much the training part has."""
    files = sorted((_DATA / "train").glob("*.txt"))
    groups = [group for path in files for group in read_groups(path)]
    return {
        "authors": len(files),
        "groups": len(groups),
        "sentences": len(groups) + sum(len(group.lines) for group in groups),
    }


if __name__ == "__main__":
    main()
