"""Fit the weights that judge orders in texts: `python -m benchmarks.train_screening`.

A logistic regression on hashed n-grams (`ingest/screening/learned_orders.py`) learns from the sets
`data/screening/train*.jsonl`, and from ordinary passages and turns of `data/questions/train`, which are
benign. Each author is left out once: the scores of all authors who did not know the rules choose the bound,
so that beside the rules at most `MOST_ADDED` of their benign texts are held back, and at most
`MOST_ORDINARY_HELD` of the ordinary texts of `data/questions/test`. Then all sets are learnt. Weights and
card are written to `hydramem/data/screening`; the test sets of screening are not read.
"""

import hashlib
import io
import json
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.sparse import csr_matrix

from benchmarks.screening import SETS, LabelledText, read_sets
from hydramem.ingest.screening.learned_orders import FEATURES, buckets, probability, windows
from hydramem.ingest.screening.quarantine import threats_in

MOST_ADDED, MOST_ORDINARY_HELD = 0.005, 0.001
_PENALTY = 0.07
_ORDINARY_SHARE = 0.5
"""Weight of the ordinary texts among the benign ones."""
_ORDINARY = {"train": 5, "test": 2}
"""Of a part's passages one in so many is taken."""
_DATA = Path(__file__).parents[1] / "hydramem" / "data" / "screening"
_QUESTIONS = Path(__file__).parent / "data" / "questions"
_OF_RULES = "rules"
"""The author of the texts that the rules were written for: those say nothing about the rules' errors."""

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]


def ordinary(part: str) -> list[str]:
    """Return passages and turns of conversations that nobody wrote for screening.

    Args:
        part: `train` or `test`, which are of different authors.
    """
    files = sorted((_QUESTIONS / part).glob("*.jsonl"))
    lines = (line for path in files for line in path.read_text("utf-8").splitlines())
    texts = [passage["text"] for line in lines for passage in json.loads(line)["passages"]]
    return texts[:: _ORDINARY[part]]


def features(texts: Sequence[str]) -> csr_matrix:
    """Return texts as rows of shape (texts, FEATURES): each kind of n-gram is a block of length 1."""
    rows = [buckets(text) for text in texts]
    indices = np.concatenate([np.concatenate(row) for row in rows])
    values = np.concatenate([np.full(len(part), len(part) ** -0.5) for row in rows for part in row])
    starts = np.concatenate([[0], np.cumsum([sum(map(len, row)) for row in rows])])
    return csr_matrix((values, indices, starts), shape=(len(texts), FEATURES))


def importance(hostile: Flags, plain: Flags) -> Floats:
    """Return the weight of each text: both labels weigh the same, ordinary texts have a share of theirs.

    Args:
        hostile, plain: Of each text: whether it is hostile, whether it is an ordinary one.
    """
    written = ~hostile & ~plain
    shares = ((hostile, 1.0), (written, 1 - _ORDINARY_SHARE), (plain, _ORDINARY_SHARE))
    found = np.zeros(len(hostile))
    for chosen, share in shares:
        found[chosen] = share * len(hostile) / (2 * chosen.sum())
    return found


def fit(rows: csr_matrix, hostile: Flags, weight: Floats) -> tuple[NDArray[np.float32], float]:
    """Return weights and bias of a logistic regression whose weights are kept small.

    Args:
        rows: Of shape (texts, FEATURES).
        hostile, weight: Of shape (texts,): the labels, and how much each text counts.
    """
    signs = np.where(hostile, 1.0, -1.0)

    def loss(point: Floats) -> tuple[float, Floats]:
        margins = signs * (rows @ point[:-1] + point[-1])
        pull = -signs * weight / (1 + np.exp(margins))
        value = weight @ np.logaddexp(0, -margins) + 0.5 * _PENALTY * (point[:-1] @ point[:-1])
        return float(value), np.append(rows.T @ pull + _PENALTY * point[:-1], pull.sum())

    found = minimize(loss, np.zeros(FEATURES + 1), jac=True, method="L-BFGS-B", options={"maxiter": 150})
    return found.x[:-1].astype(np.float16).astype(np.float32), float(found.x[-1])


def judged(texts: Sequence[str], weights: NDArray[np.float32], bias: float) -> Floats:
    """Return the probability of each text by given weights, long ones by windows."""
    return np.array([max(probability(part, weights, bias) for part in windows(text)) for text in texts])


def choose(scores: Floats, benign: Flags, plain: Floats) -> float:
    """Return the lowest probability that holds back no more than `MOST_ADDED` and `MOST_ORDINARY_HELD`.

    Args:
        scores, benign: Of each text: its probability, and whether it is benign and no rule holds it back.
        plain: Probabilities of ordinary texts.
    """
    least = [float(np.quantile(plain, 1 - MOST_ORDINARY_HELD, method="higher"))]
    least.append(float(np.quantile(scores[benign], 1 - MOST_ADDED, method="higher")))
    return round(max(least) + 0.00005, 4)


def main() -> None:
    """Leave each author out once, choose the bound, learn all texts, and write weights and card."""
    texts = [one for one in read_sets(SETS, "train*.jsonl") if one.label != "secret"]
    authors = np.array([one.author for one in texts])
    hostile = np.array([one.label == "hostile" for one in texts])
    ruled = np.array([bool(threats_in(one.text)) for one in texts])
    known, unknown = ordinary("train"), ordinary("test")
    rows = features([*(one.text for one in texts), *known])
    labels = np.append(hostile, np.zeros(len(known), bool))
    plain = np.append(np.zeros(len(texts), bool), np.ones(len(known), bool))
    scores = np.zeros(len(texts))
    of_ordinary: list[Floats] = []
    others = [name for name in dict.fromkeys(authors.tolist()) if name != _OF_RULES]
    for name in others:
        left_out = authors == name
        kept = np.append(~left_out, np.ones(len(known), bool))
        weights, bias = fit(rows[kept], labels[kept], importance(labels[kept], plain[kept]))
        scores[left_out] = judged([one.text for one in texts if one.author == name], weights, bias)
        of_ordinary.append(judged(unknown, weights, bias))
    measured = authors != _OF_RULES
    holds = choose(scores[measured], ~(hostile | ruled)[measured], np.concatenate(of_ordinary))
    chosen = {"all": measured} | {name: authors == name for name in others}
    found = {name: _shares(scores[of] >= holds, hostile[of], ruled[of]) for name, of in chosen.items()}
    weights, bias = fit(rows, labels, importance(labels, plain))
    _write(weights, bias, holds, texts, found)


def _shares(judged: Flags, hostile: Flags, ruled: Flags) -> dict[str, float]:
    held = judged | ruled
    shares = {
        "benign_held": held[~hostile].mean(),
        "benign_held_by_rules_alone": ruled[~hostile].mean(),
        "hostile_missed": (~held[hostile]).mean(),
        "hostile_missed_by_rules_alone": (~ruled[hostile]).mean(),
    }
    return {name: round(float(share), 3) for name, share in shares.items()}


def _write(
    weights: NDArray[np.float32],
    bias: float,
    holds: float,
    texts: Sequence[LabelledText],
    found: dict[str, dict[str, float]],
) -> None:
    _DATA.mkdir(exist_ok=True)
    content = io.BytesIO()
    np.save(content, weights.astype(np.float16))
    (_DATA / "orders.npy").write_bytes(content.getvalue())
    card = {
        "name": "hydramem screening of orders",
        "made": datetime.now(UTC).date().isoformat(),
        "licence": "that of HydraMem: its texts were written for it",
        "texts": {
            name: {
                label: sum(one.author == name and one.label == label for one in texts)
                for label in ("benign", "hostile")
            }
            for name in dict.fromkeys(one.author for one in texts)
        },
        "ordinary_texts": len(ordinary("train")),
        "bias": bias,
        "holds": holds,
        "author_left_out": found,
        "sha256": hashlib.sha256(content.getvalue()).hexdigest(),
    }
    (_DATA / "card.json").write_text(json.dumps(card, indent=1) + "\n", encoding="utf-8")
    print(json.dumps(card, indent=1))


if __name__ == "__main__":
    main()
