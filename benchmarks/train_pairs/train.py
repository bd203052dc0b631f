"""Fine-tuning of the pair encoder on a CPU: batches of pairs of like length, AdamW, a linear schedule."""

import json
import random
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import torch
from tokenizers import Encoding, Tokenizer
from torch import Tensor, nn

from benchmarks.train_pairs.encoder import PairEncoder
from benchmarks.train_pairs.fine_tune import fine_tune
from benchmarks.train_pairs.groups import LABELS
from benchmarks.train_pairs.pairs import Pair, turned

MOST_TOKENS = 128
_BATCH, _IN_ONE_SORT = 48, 1536
_WARM_UP = 60
_SMOOTHING = 0.05
_TURNED = 0.15
"""Share of the unrelated pairs that are shown in the other order: the order must not decide."""


def tokenizer(path: Path) -> Tokenizer:
    """Return the tokenizer of the carried model, which cuts the longer text first."""
    opened = Tokenizer.from_file(str(path))
    opened.no_padding()
    opened.enable_truncation(MOST_TOKENS)
    return opened


def arrays(encodings: Sequence[Encoding]) -> tuple[Tensor, Tensor, Tensor]:
    """Return ids, types and mask of encodings, padded to the longest, each of shape (pairs, tokens)."""
    length = max(len(one.ids) for one in encodings)

    def padded(values: Sequence[Sequence[int]]) -> Tensor:
        return torch.tensor([list(row) + [0] * (length - len(row)) for row in values])

    return (
        padded([one.ids for one in encodings]),
        padded([one.type_ids for one in encodings]),
        padded([one.attention_mask for one in encodings]),
    )


def train(
    model: PairEncoder,
    pairs: Sequence[Pair],
    held_out: Sequence[Pair],
    *,
    words: Tokenizer,
    epochs: float,
    seconds: float,
    out: Path,
    seed: int = 0,
    rate: float = 1.0,
) -> None:
    """Fine-tune a model; its weights are written to `out` at the end, and now and then on the way.

    Args:
        held_out: Pairs of groups that are not trained on; their accuracy is printed.
        epochs: How often each pair is seen, at most.
        seconds: How long to train, at most; the rate falls to zero by whichever comes first.
        rate: Factor of the learning rates; less than 1 to go on from trained weights.
    """
    draw, torch_seed = random.Random(seed), torch.manual_seed(seed)
    del torch_seed
    counts = {label: sum(pair.label == label for pair in pairs) for label in LABELS}
    weights = torch.tensor([(len(pairs) / (len(LABELS) * counts[label])) ** 0.5 for label in LABELS])

    def loss_of(batch: list[Pair]) -> Tensor:
        shown = [
            turned(pair) if pair.label == "unrelated" and draw.random() < _TURNED else pair for pair in batch
        ]
        inputs = arrays([words.encode(pair.old, pair.new) for pair in shown])
        with torch.autocast("cpu", torch.bfloat16):
            scores = model(*inputs)
        target = torch.tensor([LABELS.index(pair.label) for pair in shown])
        return nn.functional.cross_entropy(scores.float(), target, weights, label_smoothing=_SMOOTHING)

    def after_step(step: int) -> None:
        if step % 1000 == 0:
            print("held out", accuracy(model, held_out[:600], words), flush=True)
            torch.save(model.state_dict(), out)

    fine_tune(
        model,
        lambda: _batches(pairs, draw),
        loss_of,
        steps=max(1, round(epochs * len(pairs) / _BATCH)),
        seconds=seconds,
        warm_up=_WARM_UP,
        rate=rate,
        after_step=after_step,
    )
    torch.save(model.state_dict(), out)
    print("held out", accuracy(model, held_out, words), flush=True)


def _batches(pairs: Sequence[Pair], draw: random.Random) -> Iterator[list[Pair]]:
    """Yield batches of pairs of like length, in chance order."""
    order = list(pairs)
    draw.shuffle(order)
    for start in range(0, len(order), _IN_ONE_SORT):
        window = sorted(order[start : start + _IN_ONE_SORT], key=lambda pair: len(pair.old) + len(pair.new))
        batches = [window[place : place + _BATCH] for place in range(0, len(window), _BATCH)]
        draw.shuffle(batches)
        yield from batches


def accuracy(model: PairEncoder, pairs: Sequence[Pair], words: Tokenizer) -> dict[str, float]:
    """Return the share of right answers, over all and by label."""
    chosen = probabilities(model, pairs, words).argmax(1)
    right = np.array([LABELS[place] == pair.label for place, pair in zip(chosen, pairs, strict=True)])
    found = {"all": round(float(right.mean()), 3)}
    for label in LABELS:
        mask = np.array([pair.label == label for pair in pairs])
        if mask.any():
            found[label] = round(float(right[mask].mean()), 3)
    return found


def probabilities(model: PairEncoder, pairs: Sequence[Pair], words: Tokenizer) -> np.ndarray:
    """Return an array of shape (pairs, labels)."""
    was_training = model.training
    model.eval()
    rows = np.zeros((len(pairs), len(LABELS)))
    order = sorted(range(len(pairs)), key=lambda place: len(pairs[place].old) + len(pairs[place].new))
    with torch.no_grad(), torch.autocast("cpu", torch.bfloat16):
        for start in range(0, len(order), 64):
            part = order[start : start + 64]
            inputs = arrays([words.encode(pairs[place].old, pairs[place].new) for place in part])
            rows[part] = torch.softmax(model(*inputs).float(), 1).numpy()
    model.train(was_training)
    return rows


def read_pairs(path: Path) -> list[Pair]:
    """Read pairs of a JSON lines file with `old`, `new` and `label`."""
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    return [
        Pair(old=row["old"], new=row["new"], label=row["label"], group=f"{path.stem}:{place}", how="written")
        for place, row in enumerate(rows)
    ]
